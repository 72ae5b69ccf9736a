import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DroverError } from "@drover/contracts";
import { probe } from "./probe.js";
import type { RedisAddress } from "./resp.js";
import type { WatchedProcess } from "./watchdog.js";

/** Resolves when Redis answers and has loaded its data, however long that takes while it says that it loads. */
export async function untilReady(
  started: WatchedProcess,
  address: RedisAddress,
  timeoutMs: number,
): Promise<void> {
  let lastSign = performance.now();
  while (!started.hasEnded()) {
    const sign = await probe(address, started.pid);
    if (sign === "ready") return;
    if (sign === "loading") lastSign = performance.now();
    if (performance.now() - lastSign > timeoutMs)
      throw new Error(`It gave no sign of life for ${timeoutMs} ms.`);
    await sleep(10);
  }
  throw new Error("It ended at its start.");
}

/** Says why Redis did not start, with the end of what it logged since `logStart` (bytes). */
export async function startFailure(dir: string, logStart: number, cause: unknown): Promise<DroverError> {
  const file = join(dir, "redis.log");
  const log = (await readFile(file)).subarray(logStart).toString("utf8").trim();
  const reason = cause instanceof Error ? cause.message : String(cause);
  const lastLines = log.split("\n").slice(-5).join("\n");
  return new DroverError(
    "NO_REDIS",
    `redis-server did not start. ${reason} Its log, ${file}, ends with:\n${lastLines}`,
    { cause },
  );
}

/** Whether Redis did not start because somebody else has taken its port meanwhile. */
export function isPortTaken(error: unknown): boolean {
  return (
    error instanceof Error &&
    /address already in use|could not create server tcp|failed listening/i.test(error.message)
  );
}

/** In bytes; 0 when there is no such file. */
export async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
