import { isFinal, type Lease, type RunEvent, type RunEventData, type RunStatus } from "@drover/contracts";
import type { Redis } from "./connect.js";
import type { Codec } from "./encryption/codec.js";
import { openError, openJson, sealJson } from "./encryption/sealed.js";
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
  codec?: Codec,
): Promise<void> {
  if (events.length === 0) return;
  const k = keys.thread(lease.tenant, lease.threadId);
  const args = [
    lease.epoch,
    lease.worker,
    longest,
    newToken(),
    ...events.map((event) => sealJson(event, codec)),
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
  { since = "0-0", signal, codec }: { since?: string; signal?: AbortSignal; codec?: Codec | undefined } = {},
): AsyncGenerator<RunEvent> {
  const stream = keys.thread(run.tenant, run.threadId).events(run.runId);
  const wake = await subscriptions.open(stream);
  let last = since;
  try {
    for (;;) {
      const page = await redis.xrange(stream, `(${last}`, "+", "COUNT", 500);
      for (const [id, fields] of page) {
        last = id;
        const event = { ...readEvent(fields[1] ?? "{}", codec), id };
        yield event;
        if (event.type === "status" && isFinal(event.status)) return;
      }
      if (page.length > 0) continue;
      // Events go before their run does: nothing comes any more for one that is over.
      if (await isOver(redis, keys, run, stream, last)) return;
      if (!(await wake.next(signal))) return;
    }
  } finally {
    wake.close();
  }
}

/** Whether the run is final, or gone, and has no event after `last`: its end and that event are written together. */
async function isOver(redis: Redis, keys: Keys, run: RunRef, stream: string, last: string): Promise<boolean> {
  const status = await redis.hget(keys.thread(run.tenant, run.threadId).run(run.runId), "status");
  if (status !== null && !isFinal(status as RunStatus)) return false;
  return (await redis.xrange(stream, `(${last}`, "+", "COUNT", 1)).length === 0;
}

/** Changes of state are written by scripts: of those the error's text alone is encrypted. */
export function readEvent(stored: string, codec: Codec | undefined): RunEventData {
  const isPlain = stored.startsWith("{");
  const event = (isPlain ? JSON.parse(stored) : openJson(stored, codec)) as RunEventData;
  if (event.type === "status") {
    return event.error ? { ...event, error: openError(event.error, codec) } : event;
  }
  // Refuses what is not encrypted, unless that is to be read.
  if (isPlain) codec?.decode(Buffer.from(stored));
  return event;
}
