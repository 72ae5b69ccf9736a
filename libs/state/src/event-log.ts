import { isFinal, type Lease, type RunEvent, type RunEventData } from "@drover/contracts";
import type { Redis } from "./connect.js";
import type { Keys } from "./keys.js";
import { leaseLost } from "./refusals.js";
import type { RunRef } from "./run-store.js";
import { loadScript, newToken, runScript } from "./scripts.js";
import type { Subscriptions } from "./subscriptions.js";

const append = loadScript("events");

/** Appends to a run's events, under the lease; one call after the other for each run. Throws LEASE_LOST. */
export async function appendEvents(
  redis: Redis,
  keys: Keys,
  lease: Lease,
  events: readonly RunEventData[],
  longest: number,
): Promise<void> {
  if (events.length === 0) return;
  const k = keys.thread(lease.tenant, lease.threadId);
  const args = [
    lease.epoch,
    lease.worker,
    longest,
    newToken(),
    ...events.map((event) => JSON.stringify(event)),
  ];
  if ((await runScript(redis, append, [k.thread, k.events(lease.runId), k.run(lease.runId)], args)) !== 1)
    throw leaseLost(lease);
}

/**
 * Follows a run's events from after `since` (an event's id; from the beginning if left out) until the run is
 * final or the signal fires. Nothing is lost while it follows: a message only wakes it, the stream is the truth.
 */
export async function* followEvents(
  redis: Redis,
  keys: Keys,
  subscriptions: Subscriptions,
  run: RunRef,
  { since = "0-0", signal }: { since?: string; signal?: AbortSignal } = {},
): AsyncGenerator<RunEvent> {
  const stream = keys.thread(run.tenant, run.threadId).events(run.runId);
  const wake = await subscriptions.open(stream);
  let last = since;
  try {
    for (;;) {
      const page = await redis.xrange(stream, `(${last}`, "+", "COUNT", 500);
      for (const [id, fields] of page) {
        last = id;
        const event = { ...(JSON.parse(fields[1] ?? "{}") as RunEventData), id };
        yield event;
        if (event.type === "status" && isFinal(event.status)) return;
      }
      if (page.length === 0 && !(await wake.next(signal))) return;
    }
  } finally {
    wake.close();
  }
}
