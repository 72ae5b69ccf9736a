import type { PlannedEvent } from "./plan.js";

export const FAULTS = [
  /** An accepted run without a final state, without a trace, or that ended for no reason that was given to it. */
  "lost",
  /** A run with two ends, or whose lists, batch and record do not agree about its end. */
  "twoFinalStates",
  /** A tool marked once that was started twice for one call. */
  "onceStartedTwice",
  /** A thread's run that began before the one before it had ended. */
  "orderBroken",
  /** Something that a worker wrote after others had taken its run. */
  "staleWrites",
  /** More requests to a model than a thread may make. */
  "limitExceeded",
  /** A question with two answers, an answer that did not fit and was taken, or one that did not come about. */
  "answeredTwice",
  /** Claims, jobs, leases or lanes that are left when every run has ended. */
  "slotsLeaked",
  /** Keys that no one owns. */
  "keysLeaked",
] as const;
export type FaultKind = (typeof FAULTS)[number];

export interface Fault {
  kind: FaultKind;
  /** The run's label, where it is about one. */
  run: string | null;
  what: string;
}

export interface ChaosReport {
  seed: number;
  runs: number;
  /** What was done, by kind, and how the runs ended. */
  events: Record<PlannedEvent["what"] | "answers" | "restarts" | "unexpectedExits", number>;
  ended: Record<string, number>;
  faults: Record<FaultKind, number>;
  /** From a worker's end to the next claim of each run that it had, in milliseconds; null where none was killed. */
  takeoverMs: { p50: number | null; p95: number | null; max: number | null };
  /** Requests to models beyond those that runs which met no fault need. */
  durationMs: number;
}

export function countFaults(faults: readonly Fault[]): Record<FaultKind, number> {
  const counts = Object.fromEntries(FAULTS.map((kind) => [kind, 0])) as Record<FaultKind, number>;
  for (const { kind } of faults) counts[kind] += 1;
  return counts;
}

/** The value below which `share` of the values lie, by nearest rank. */
export function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
