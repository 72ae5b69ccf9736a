/** How long finished things are kept, in seconds. The one place that sets it. */
export interface Retention {
  /** A run's record with its input and output, from its end. */
  runs: number;
  /** A thread's checkpoints and counters, from their last use. */
  threads: number;
  /** A run's events, from its end. */
  events: number;
  /** The most events that a run keeps while it goes on. */
  eventsLength: number;
  /** A batch's counters and its list of runs, from the end of its last run. */
  batches: number;
  /** An idempotency key, from its first use. */
  idempotency: number;
}

const DAY = 86_400;

export const DEFAULT_RETENTION: Retention = {
  runs: 7 * DAY,
  threads: 7 * DAY,
  events: DAY,
  eventsLength: 10_000,
  batches: 30 * DAY,
  idempotency: 7 * DAY,
};

/** The form in which scripts take it. */
export function retentionArg(retention: Retention): string {
  return [retention.runs, retention.threads, retention.events, retention.eventsLength].join(",");
}
