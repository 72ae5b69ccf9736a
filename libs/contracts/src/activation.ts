import type { ActivationKind } from "./run.js";

/** What a worker needs to execute one activation of a run. */
export interface Activation {
  tenant: string;
  threadId: string;
  runId: string;
  seq: number;
  kind: ActivationKind;
  /** Counts the run's tries, from 1. */
  attempt: number;
  agent: string;
  /** Empty until a worker first took the run. */
  agentVersion: string;
  input: string | Record<string, unknown>;
  /** Runtime context as JSON: dates and credentials still as `{$date}` and `{$credential}`. */
  context: Record<string, unknown>;
  metadata: Record<string, unknown>;
  tags: string[];
  /** W3C trace context of who asked for the run, where somebody gave one. */
  traceparent?: string | undefined;
  streamMode: ("updates" | "messages" | "custom")[];
  /** Milliseconds by Redis's clock; null where the run has none. */
  deadlineAt: number | null;
  /** Milliseconds left until the deadline when the activation was taken: workers' own clocks may be wrong. */
  deadlineInMs: number | null;
  /** The answers that a resume brings, kept until the run goes past them: a takeover needs them again. */
  resume: Resume | null;
}

export interface Resume {
  /** LangGraph's interrupt id → the value given to it. */
  values: Record<string, unknown>;
  /** The checkpoint that holds the interrupts: once the thread's head is another, the answers were taken. */
  checkpointId: string;
}
