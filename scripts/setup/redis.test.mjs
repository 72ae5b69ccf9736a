import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedisBinary } from "@drover/embedded";
import { expect, onTestFinished, test } from "vitest";
import { machine } from "./machine.fixture.mjs";
import { findOrInstallRedis, REDIS_NAMES } from "./redis.mjs";

/** A machine on which the command that matches `installs` brings redis-server, from its `nth` time on. */
function installable(programs, installs, overrides = {}, nth = 1) {
  const system = machine(overrides);
  for (const program of programs) system.programs.add(program);
  let times = 0;
  system.run = async (command, args) => {
    const line = [command, ...args].join(" ");
    system.ran.push(line);
    if (!installs.test(line)) return 0;
    if (++times < nth) return 100;
    system.programs.add("redis-server");
    return 0;
  };
  return system;
}

const APT = "apt-get install -y --no-install-recommends redis-server";

test("a Redis that is there is enough, and so is REDIS_URL", async () => {
  const there = machine();
  there.programs.add("valkey-server");
  await findOrInstallRedis(there);
  const given = machine({ env: { REDIS_URL: "redis://elsewhere" } });
  await findOrInstallRedis(given);
  expect([...there.ran, ...given.ran, ...there.said, ...given.said]).toEqual([]);
});

test("tests need a server of their own, whatever REDIS_URL says", async () => {
  const system = installable(["apt-get"], /install/, { env: { REDIS_URL: "redis://elsewhere", CI: "true" } });
  await findOrInstallRedis(system, { forTests: true });
  expect(system.ran).toEqual([APT]);
});

test("root under CI=true, and --yes, install without asking", async () => {
  const ci = installable(["apt-get"], /install/, { env: { CI: "true" } });
  await findOrInstallRedis(ci);
  expect(ci.ran).toEqual([APT]);
  expect(ci.said).toEqual([`installing Redis (${APT})`]);
  const yes = installable(["apt-get"], /install/);
  await findOrInstallRedis(yes, { yes: true });
  expect(yes.ran).toEqual([APT]);
});

test("old package lists are brought up to date once", async () => {
  const system = installable(["apt-get"], /install/, {}, 2);
  await findOrInstallRedis(system, { yes: true });
  expect(system.ran).toEqual([APT, "apt-get update", APT]);
});

test("others than root go through sudo, which must not wait for a password where nobody can type one", async () => {
  const silent = installable(["apt-get", "sudo"], /install/, { isRoot: false });
  await findOrInstallRedis(silent, { yes: true });
  expect(silent.ran).toEqual([`sudo -n DEBIAN_FRONTEND=noninteractive ${APT}`]);
  const terminal = installable(["apt-get", "sudo"], /install/, { isRoot: false, isTerminal: true });
  await findOrInstallRedis(terminal, { yes: true });
  expect(terminal.ran).toEqual([`sudo DEBIAN_FRONTEND=noninteractive ${APT}`]);
});

test("brew serves where there is no apt-get", async () => {
  const system = installable(["brew"], /install/, { platform: "darwin", isRoot: false });
  await findOrInstallRedis(system, { yes: true });
  expect(system.ran).toEqual(["brew install redis"]);
});

test("a person on a terminal is asked with the command that would run", async () => {
  const questions = [];
  const answer = (yes) => ({ isTerminal: true, ask: async (question) => questions.push(question) && yes });
  const willing = installable(["apt-get"], /install/, answer(true));
  await findOrInstallRedis(willing);
  expect(willing.ran).toEqual([APT]);
  expect(questions[0]).toContain(APT);
  const unwilling = installable(["apt-get"], /install/, answer(false));
  await expect(findOrInstallRedis(unwilling)).rejects.toThrow(/By hand: .*apt-get install redis-server/);
  expect(unwilling.ran).toEqual([]);
});

test("says that the Debian package starts a service of its own", async () => {
  const system = installable(["apt-get"], /install/, { exists: (file) => file === "/run/systemd/system" });
  await findOrInstallRedis(system, { yes: true });
  expect(system.said.at(-1)).toContain("systemctl disable --now redis-server");
});

test.each([
  ["nobody can be asked", ["apt-get"], {}, {}, /npm run setup -- --yes/],
  [
    "there is no sudo",
    ["apt-get"],
    { isRoot: false },
    { yes: true },
    /As root, type: apt-get install redis-server/,
  ],
  ["there is no installer", [], {}, { yes: true }, /no apt-get or brew.*By hand: .*REDIS_URL/],
  ["it is Windows", [], { platform: "win32" }, { yes: true }, /WSL/],
])("says what to type when %s", async (_, programs, overrides, options, message) => {
  const system = installable(programs, /install/, overrides);
  await expect(findOrInstallRedis(system, options)).rejects.toThrow(message);
  expect(system.ran).toEqual([]);
});

test("an install that fails, or brings no redis-server, is told", async () => {
  const failing = installable(["apt-get"], /install/, {}, 3);
  await expect(findOrInstallRedis(failing, { yes: true })).rejects.toThrow(/exit code 100.*By hand/);
  const empty = installable(["brew"], /never/);
  await expect(findOrInstallRedis(empty, { yes: true })).rejects.toThrow(/could not be installed/);
});

test("looks for the same programs as the library that starts them", () => {
  const folder = mkdtempSync(join(tmpdir(), "drover-names-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of REDIS_NAMES.toReversed()) {
    writeFileSync(join(folder, name), "");
    chmodSync(join(folder, name), 0o755);
    expect(findRedisBinary(folder)).toBe(join(folder, name));
  }
});
