import type { ErrorCode } from "./errors.js";
import type { Notify } from "./notice.js";
import type { Dispatch } from "./pointer.js";
import type { ActivationKind, EndedBy, RunStatus } from "./run.js";
import type { Usage } from "./usage.js";

/**
 * A change of a run's state that was committed in its thread's slot and that the indexes, the batch and the
 * queue learn from. Applied idempotently: an index that has seen `version` or a later one ignores it.
 */
export interface Transition {
  tenant: string;
  threadId: string;
  runId: string;
  version: number;
  /** The run's newest activation. */
  seq: number;
  kind: ActivationKind;
  status: RunStatus;
  agent: string;
  batchId: string | null;
  /** Milliseconds by Redis's clock. */
  at: number;
  createdAt: number;
  /** When the run must be over; null where it has no deadline. */
  deadlineAt: number | null;
  worker: string | null;
  endedBy: EndedBy | null;
  code: ErrorCode | null;
  /** What the run used up to now, in all. */
  usage: Partial<Usage>;
  /** Approvals that were raised, with the tool or question in one line each. */
  raised: RaisedApproval[];
  /** Approvals that no longer wait. */
  closed: string[];
  /** The activation that goes on the queue now, if one does: this run's, or that of the next run of the lane. */
  dispatch: Dispatch | null;
  /** Who is told of the run's acceptance, its questions and its end; null where nobody asked to be. */
  notify: Notify | null;
  /** The run that a pending one waits behind. */
  behind: string | null;
}

export interface RaisedApproval {
  approvalId: string;
  title: string;
  /** Milliseconds by Redis's clock; left out where it waits for ever. */
  expiresAt?: number;
}
