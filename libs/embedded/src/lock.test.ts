import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./lock.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "drover-lock-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function mostAtOnce(count: number, file: string): Promise<number> {
  let inside = 0;
  let most = 0;
  const enter = async () => {
    most = Math.max(most, ++inside);
    await sleep(2);
    inside--;
  };
  await Promise.all(Array.from({ length: count }, () => withLock(file, enter)));
  return most;
}

test("one at a time, and nothing is left behind", async () => {
  expect(await mostAtOnce(20, join(folder, "lock"))).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

test("many that find the lock of a dead process still enter one at a time", async () => {
  const child = spawn("true");
  await once(child, "close");
  writeFileSync(join(folder, "lock"), `${child.pid} left-behind`);
  expect(await mostAtOnce(20, join(folder, "lock"))).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

test("a lock that a living process id never touches is taken over after a while", async () => {
  writeFileSync(join(folder, "lock"), `${process.ppid} from-before-a-reboot`);
  const start = performance.now();
  await withLock(join(folder, "lock"), async () => undefined, 1_500);
  expect(performance.now() - start).toBeGreaterThan(1_400);
});

test("is released when the work fails", async () => {
  const file = join(folder, "lock");
  await expect(withLock(file, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await mostAtOnce(2, file)).toBe(1);
});
