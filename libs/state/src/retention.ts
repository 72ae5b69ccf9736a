import { DroverError } from "@drover/contracts";

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

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: DAY };
const TIMES = ["runs", "threads", "events", "batches", "idempotency"] as const;

/**
 * What DROVER_RETENTION says: `runs=7d,threads=30d`, each a number with s, m, h or d. What it leaves out keeps its
 * default. The same for workers and clients. Throws INVALID_CONFIG.
 */
export function parseRetention(text: string | undefined): Partial<Retention> {
  const entries = (text ?? "").split(",").map((entry) => entry.trim());
  return Object.fromEntries(entries.filter(Boolean).map(parseTime));
}

function parseTime(entry: string): [keyof Retention, number] {
  const [, name, number, unit = ""] = /^(\w+)=(\d{1,6})([smhd])$/.exec(entry) ?? [];
  const field = TIMES.find((one) => one === name);
  const seconds = Number(number) * (UNITS[unit] ?? 0);
  if (field && seconds > 0) return [field, seconds];
  throw new DroverError(
    "INVALID_CONFIG",
    `DROVER_RETENTION: '${entry}' is no time. Write for example runs=7d,events=12h; it knows ${TIMES.join(", ")}.`,
  );
}

/** The form in which scripts take it. */
export function retentionArg(retention: Retention): string {
  return [retention.runs, retention.threads, retention.events, retention.eventsLength].join(",");
}
