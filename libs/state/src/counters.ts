import type { CounterLimit, Counters, Lease } from "@drover/contracts";
import type { Redis } from "./connect.js";
import type { Keys } from "./keys.js";
import { leaseLost } from "./refusals.js";
import { loadScript, replyWords, runScript } from "./scripts.js";
import type { ThreadRef } from "./transitions.js";

const take = loadScript("take");

/** The limits of one run and its thread, shared by the fleet: taking is one script, under the lease. */
export function createCounters(redis: Redis, keys: Keys, lease: Lease): Counters {
  const k = keys.thread(lease.tenant, lease.threadId);
  return {
    async take(limits) {
      if (limits.length === 0) return null;
      const args = [lease.epoch, lease.worker, ...limits.flatMap((l) => [l.scope, l.name, l.limit])];
      const { what, rest } = replyWords(await runScript(redis, take, [k.thread, k.run(lease.runId)], args));
      if (what === "lost") throw leaseLost(lease);
      if (what === "taken") return null;
      const full = limits[Number(rest[0]) - 1] as CounterLimit;
      return `${full.scope}:${full.name}`;
    },
  };
}

const COUNT = "count:";

/** What was taken so far in a thread's scope and in that of a run, by the counters' names. */
export async function readCounters(
  redis: Redis,
  keys: Keys,
  { tenant, threadId, runId }: ThreadRef & { runId?: string },
): Promise<Record<string, number>> {
  const { thread, run } = keys.thread(tenant, threadId);
  const key = runId === undefined ? thread : run(runId);
  const names = (await redis.hkeys(key)).filter((name) => name.startsWith(COUNT));
  if (names.length === 0) return {};
  const taken = await redis.hmget(key, ...names);
  return Object.fromEntries(names.map((name, i) => [name.slice(COUNT.length), Number(taken[i] ?? 0)]));
}
