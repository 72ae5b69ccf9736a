import { DroverError, type ErrorInfo } from "./errors.js";
import type { Usage } from "./usage.js";

/**
 * The states of a run. The words are the LangGraph Agent Server's, with `cancelled` of our own (the Agent
 * Server calls it `interrupted` with a cancel reason; an HTTP edge translates).
 */
export const RUN_STATUSES = [
  "pending",
  "running",
  "interrupted",
  "success",
  "error",
  "timeout",
  "cancelled",
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const FINAL_STATUSES = ["success", "error", "timeout", "cancelled"] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];

/**
 * The only table of legal transitions. From a final state there is one way out: an operator's retry.
 * `running → pending` is a retry, a takeover or a hand-over.
 */
const TRANSITIONS: Record<RunStatus, readonly RunStatus[]> = {
  pending: ["running", "cancelled", "timeout", "error"],
  running: ["pending", "interrupted", "success", "error", "timeout", "cancelled"],
  interrupted: ["pending", "cancelled", "timeout", "error"],
  success: [],
  error: ["pending"],
  timeout: ["pending"],
  cancelled: ["pending"],
};

export function isFinal(status: RunStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly RunStatus[]).includes(status);
}

export function canMove(from: RunStatus, to: RunStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

/** The states from which a run may move to `to`: scripts in Redis are given this list, they keep no table of their own. */
export function sourcesOf(to: RunStatus): RunStatus[] {
  return RUN_STATUSES.filter((from) => canMove(from, to));
}

export function assertMove(from: RunStatus, to: RunStatus, runId: string): void {
  if (canMove(from, to)) return;
  throw new DroverError("ILLEGAL_TRANSITION", `Run ${runId} is ${from}; it cannot become ${to}.`);
}

/** Why an agent stopped. `completed` means that the agent finished; everything else says what cut it short. */
export const ENDINGS = [
  "completed",
  "model_call_limit",
  "tool_call_limit",
  "refused",
  "truncated",
  "content_filter",
  "interrupt",
  "error",
  "cancelled",
  "timeout",
] as const;
export type EndedBy = (typeof ENDINGS)[number];

/** Why a worker works on a run. All five are one shape: an activation, numbered by `seq` within its run. */
export const ACTIVATION_KINDS = ["start", "resume", "retry", "takeover", "handover"] as const;
export type ActivationKind = (typeof ACTIVATION_KINDS)[number];

/** A run as its readers see it. Times are milliseconds since 1970 by Redis's clock. */
export interface Run {
  runId: string;
  tenant: string;
  threadId: string;
  agent: string;
  /** The version that the run is bound to; empty until a worker first took it. */
  agentVersion: string;
  status: RunStatus;
  endedBy: EndedBy | null;
  /** Counts every change of state; an index applies a change only if it is newer than what it has. */
  version: number;
  /** The newest activation's number and kind. */
  seq: number;
  kind: ActivationKind;
  /** What the run's retry budget counts, from 1. Takeovers, hand-overs and resumes do not count. */
  attempt: number;
  /** How often a worker died while it executed this run. */
  crashes: number;
  batchId: string | null;
  /** The document's name in its batch. */
  document: string | null;
  priority: number;
  tags: string[];
  metadata: Record<string, unknown>;
  output: unknown;
  error: ErrorInfo | null;
  /** Ids of the approvals that were raised by this run, answered ones included. */
  approvals: string[];
  usage: Usage;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  updatedAt: number;
  deadlineAt: number | null;
  /** Who asked for the run's end and why, once somebody did. */
  cancelReason: string | null;
  worker: string | null;
}
