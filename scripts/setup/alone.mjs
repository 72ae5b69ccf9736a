import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Runs `work` while no other set-up of this folder runs: a second terminal's command waits until the first has
 * installed and built. The lock of a process that is gone is broken.
 *
 * @param {string} lockFile @param {import("./system.mjs").System} system @param {() => Promise<void>} work
 */
export async function alone(lockFile, system, work) {
  mkdirSync(dirname(lockFile), { recursive: true, mode: 0o700 });
  let waitsFor;
  while (!tryLock(lockFile)) {
    const holder = Number(read(lockFile));
    if (!isAlive(holder)) {
      rmSync(lockFile, { force: true });
      continue;
    }
    if (holder !== waitsFor) system.say(`waiting for the set-up that process ${holder} is doing`);
    waitsFor = holder;
    await sleep(100);
  }
  try {
    await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** A link appears with its content: nobody finds a lock whose holder is not in it yet. */
function tryLock(file) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, String(process.pid));
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
