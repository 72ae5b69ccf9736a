import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DroverError } from "@drover/contracts";
import { withLock } from "./lock.js";
import { probe } from "./probe.js";
import { isAlive, mayBeRedis } from "./process.js";
import { type RedisRecord, readRecord, removeRecord, writeRecord } from "./record.js";
import { startRedis } from "./redis.js";

export interface EmbeddedOptions {
  /** The project's folder; Redis's files go to `.drover` in it. */
  root: string;
  /** By default the first on the PATH. */
  binary?: string;
  /**
   * How long to wait for a recorded Redis that does not answer. Default 15,000 ms: longer than the watchdog takes
   * from the owner's death to SIGKILL.
   */
  silenceLimitMs?: number;
}

export interface EmbeddedRedis {
  /** Holds the password: a secret. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Whether this call started it. Then stop() stops it, and so does the end of this process. */
  readonly ownsIt: boolean;
  /** Stops the Redis that this call started; does nothing to one that was found running. */
  stop(): Promise<void>;
}

/**
 * The Redis of a project folder: the one that another process started and that `.drover/redis.json` records, if it
 * answers; else starts it, with its data in `.drover/redis`. Two processes at once get the same one.
 * Throws NO_REDIS when there is none and none can be started, or when the recorded one runs but does not answer.
 */
export async function embeddedRedis(options: EmbeddedOptions): Promise<EmbeddedRedis> {
  const folder = join(resolve(options.root), ".drover");
  const recordFile = join(folder, "redis.json");
  const lockFile = join(folder, "redis.lock");
  mkdirSync(folder, { recursive: true, mode: 0o700 });

  const found = await findRunning(recordFile, options.silenceLimitMs);
  if (found) return borrowed(found);
  return withLock(lockFile, async () => {
    const startedMeanwhile = await findRunning(recordFile, options.silenceLimitMs);
    if (startedMeanwhile) return borrowed(startedMeanwhile);
    const { binary } = options;
    const server = await startRedis({ dir: join(folder, "redis"), ...(binary !== undefined && { binary }) });
    const { url, port, pid } = server;
    await writeRecord(recordFile, { url, port, pid, owner: process.pid });
    // Under the lock: nobody may start another on the same files before this one has written them out.
    const stopOnce = once(async () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await withLock(lockFile, async () => {
        await server.stop();
        await removeRecord(recordFile, pid);
      });
    });
    return { url, port, pid, ownsIt: true, stop: stopOnce };
  });
}

function stopOrphan(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It has ended meanwhile.
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

function borrowed({ url, port, pid }: RedisRecord): EmbeddedRedis {
  return { url, port, pid, ownsIt: false, stop: async () => undefined };
}

/**
 * The recorded Redis, once it answers. One that is ending is waited for until it has ended, then undefined: two
 * servers on one append-only file would ruin it.
 */
async function findRunning(recordFile: string, silenceLimitMs = 15_000): Promise<RedisRecord | undefined> {
  let lastSign = performance.now();
  for (;;) {
    const record = await readRecord(recordFile);
    if (record === undefined || !isAlive(record.pid)) return undefined;
    const { password } = new URL(record.url);
    const sign = await probe({ port: record.port, password }, record.pid);
    if (sign === "ready" && isAlive(record.owner)) return record;
    // Its watchdog is about to stop it, or was killed as well: somebody has to.
    if (sign === "ready") stopOrphan(record.pid);
    if (sign === "none" && !(await mayBeRedis(record.pid))) return undefined;
    if (sign === "loading") lastSign = performance.now();
    if (performance.now() - lastSign > silenceLimitMs) {
      throw new DroverError(
        "NO_REDIS",
        `The Redis of this folder runs (process ${record.pid}) but does not answer on port ${record.port}. ` +
          `Stop it with \`kill ${record.pid}\` (or \`kill -9 ${record.pid}\`) and try again.`,
      );
    }
    await sleep(50);
  }
}
