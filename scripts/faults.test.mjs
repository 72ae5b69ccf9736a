import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const script = fileURLToPath(new URL("./faults.mjs", import.meta.url));

function start(...args) {
  const child = spawn(process.execPath, [script, ...args]);
  const said = { out: "", err: "" };
  child.stdout.on("data", (part) => {
    said.out += part;
  });
  child.stderr.on("data", (part) => {
    said.err += part;
  });
  const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, said, ended };
}

it("says how it is used, and what was wrong", async () => {
  const [help, typo, unknown] = [start("--help"), start("--secrte"), start("no-such-fault", "--secret")];
  expect(await Promise.all([help.ended, typo.ended, unknown.ended])).toEqual([0, 2, 2]);
  expect(help.said.out).toMatch(/^npm run faults -- .*--seconds.*Ctrl-C.*poisonous-document/s);
  expect(typo.said.err).toMatch(/^Unknown option '--secrte'.*npm run faults --/s);
  expect(unknown.said.err).toMatch(/^There is no fault 'no-such-fault'/);
});

it("says what was secret when it is ended, and leaves nothing behind", { timeout: 60_000 }, async () => {
  const { child, said, ended } = start("bad-key", "--secret", "--seconds", "600");
  await expect.poll(() => said.out, { timeout: 40_000 }).toMatch("A fault begins. It lasts 600 seconds");
  expect(said.out).not.toContain("bad-key");
  const [, folder = ""] = /Logs: (\S+)/.exec(said.out) ?? [];
  expect(existsSync(folder)).toBe(true);
  child.kill("SIGINT");
  child.kill("SIGINT");
  await ended;
  expect(said.out).toContain("It was bad-key: the provider refuses the key.");
  expect(said.out, "nothing was wrong before").not.toContain("DroverNoWorkers");
  expect(existsSync(folder)).toBe(false);
});
