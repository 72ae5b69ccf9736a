import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, rmdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "./process.js";

const RETRY_MS = 30;
const TOUCH_MS = 1_000;

/** How long a lock that its holder touches every second may stay untouched, by the waiter's clock. */
const STALE_MS = 15_000;

/**
 * Runs `work` while no other process of this machine runs under the same lock file; waits for its turn. A holder
 * that died is noticed: at once by its process id, and where that id means another process now, after 15 s.
 */
export async function withLock<T>(file: string, work: () => Promise<T>, staleMs = STALE_MS): Promise<T> {
  const mark = `${process.pid} ${randomUUID()}`;
  await acquire(file, mark, staleMs);
  const touch = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touch);
    if ((await read(file))?.mark === mark) await unlink(file);
  }
}

async function acquire(file: string, mark: string, staleMs: number): Promise<void> {
  // A link appears with its content: nobody ever reads a lock that its holder has not written yet.
  const draft = `${file}.${mark.split(" ")[1]}`;
  await writeFile(draft, mark, { mode: 0o600 });
  try {
    let seen = "";
    let seenAt = performance.now();
    while (!(await tryLink(draft, file))) {
      const holder = await read(file);
      if (holder === undefined) continue;
      const now = `${holder.mark} ${holder.touched}`;
      if (now !== seen) {
        seen = now;
        seenAt = performance.now();
      }
      const isStale = !isAlive(holder.pid) || performance.now() - seenAt > staleMs;
      if (isStale) await breakLock(file, holder.mark);
      else await sleep(RETRY_MS);
    }
  } finally {
    await unlink(draft);
  }
}

/** Of several that find the same stale lock one removes it; the others must not remove the lock of whoever is next. */
async function breakLock(file: string, staleMark: string): Promise<void> {
  const turn = `${file}.breaking`;
  try {
    await mkdir(turn);
  } catch {
    const since = await stat(turn).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - since > STALE_MS) await rmdir(turn).catch(() => undefined);
    return sleep(RETRY_MS);
  }
  try {
    if ((await read(file))?.mark === staleMark) await rm(file, { force: true });
  } finally {
    await rmdir(turn).catch(() => undefined);
  }
}

async function tryLink(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function read(file: string): Promise<{ mark: string; pid: number; touched: number } | undefined> {
  try {
    const mark = await readFile(file, "utf8");
    return { mark, pid: Number.parseInt(mark, 10), touched: (await stat(file)).mtimeMs };
  } catch {
    return undefined;
  }
}
