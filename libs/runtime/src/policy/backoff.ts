import { setTimeout as sleep } from "node:timers/promises";

export interface Backoff {
  initialDelayMs: number;
  backoffFactor: number;
  maxDelayMs: number;
  jitter: boolean;
}

/**
 * Milliseconds to wait before try number `retry` (from 1), at least what the other side asked for. `random` gives
 * 0 to 1; a jitter is up to a quarter in both directions.
 */
export function delayBefore(retry: number, backoff: Backoff, askedMs = 0, random = Math.random): number {
  const factor = backoff.backoffFactor || 1;
  const grown = Math.min(backoff.initialDelayMs * factor ** (retry - 1), backoff.maxDelayMs);
  const spread = backoff.jitter ? grown * 0.25 * (2 * random() - 1) : 0;
  return Math.max(0, Math.round(grown + spread), askedMs);
}

/** Waits, or throws as soon as the signal fires. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms > 0) await sleep(ms, undefined, { signal });
}
