import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { alone } from "./alone.mjs";
import { machine } from "./machine.fixture.mjs";

let lockFile;

beforeEach(({ onTestFinished }) => {
  const root = mkdtempSync(join(tmpdir(), "drover-alone-"));
  lockFile = join(root, ".drover", "setup.lock");
  onTestFinished(() => rmSync(root, { recursive: true }));
});

test("the second waits for the first and says for whom", async () => {
  const order = [];
  let finish;
  const first = alone(lockFile, machine(), async () => {
    await new Promise((resolve) => {
      finish = resolve;
    });
    order.push("first");
  });
  const waiting = machine();
  const said = new Promise((resolve) => {
    waiting.say = resolve;
  });
  const second = alone(lockFile, waiting, async () => order.push("second"));
  expect(await said).toContain(`process ${process.pid}`);
  finish();
  await Promise.all([first, second]);
  expect(order).toEqual(["first", "second"]);
  expect(existsSync(lockFile)).toBe(false);
});

test("a process that is gone holds nobody up, and neither does work that failed", async () => {
  const gone = spawn("true");
  await once(gone, "close");
  mkdirSync(dirname(lockFile));
  writeFileSync(lockFile, String(gone.pid));
  await expect(alone(lockFile, machine(), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  let done = false;
  await alone(lockFile, machine(), async () => {
    done = true;
  });
  expect(done).toBe(true);
});
