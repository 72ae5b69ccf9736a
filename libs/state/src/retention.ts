import { DroverError } from "@drover/contracts";

/** How long finished things are kept, in seconds, and how many where that says more. The one place that sets it. */
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
  /** A notice on a reply queue that nobody reads, from its making. */
  replies: number;
  /** The most notices that a reply queue keeps unread. */
  repliesLength: number;
}

const DAY = 86_400;

export const DEFAULT_RETENTION: Retention = {
  runs: 7 * DAY,
  threads: 7 * DAY,
  events: DAY,
  eventsLength: 10_000,
  batches: 30 * DAY,
  idempotency: 7 * DAY,
  replies: 7 * DAY,
  repliesLength: 100_000,
};

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: DAY };
const TIMES = ["runs", "threads", "events", "batches", "idempotency", "replies"] as const;
const LENGTHS = ["eventsLength", "repliesLength"] as const;

/**
 * What DROVER_RETENTION says: `runs=7d,repliesLength=5000`, each time a number with s, m, h or d. What it leaves out
 * keeps its default. The same for workers and clients. Throws INVALID_CONFIG.
 */
export function parseRetention(text: string | undefined): Partial<Retention> {
  const entries = (text ?? "").split(",").map((entry) => entry.trim());
  return Object.fromEntries(entries.filter(Boolean).map(parseEntry));
}

function parseEntry(entry: string): [keyof Retention, number] {
  const [, name, number, unit = ""] = /^(\w+)=(\d{1,7})([smhd]?)$/.exec(entry) ?? [];
  const time = TIMES.find((one) => one === name);
  const seconds = Number(number) * (UNITS[unit] ?? 0);
  if (time && seconds > 0) return [time, seconds];
  const length = LENGTHS.find((one) => one === name);
  if (length && unit === "" && Number(number) > 0) return [length, Number(number)];
  throw new DroverError(
    "INVALID_CONFIG",
    `DROVER_RETENTION: '${entry}' is no time and no length. Write for example runs=7d,repliesLength=5000; ` +
      `it knows the times ${TIMES.join(", ")} and the lengths ${LENGTHS.join(", ")}.`,
  );
}

/** The form in which scripts take it. */
export function retentionArg(retention: Retention): string {
  return [retention.runs, retention.threads, retention.events, retention.eventsLength].join(",");
}
