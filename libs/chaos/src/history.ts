import type { Approval, Run, RunEvent } from "@drover/contracts";
import type { PlannedRun } from "./plan.js";

/** What an answer was given by, and what came of it. */
export interface Attempt {
  approvalId: string;
  by: string;
  approves: boolean;
  isWrong: boolean;
  /** `taken`, or the code of the refusal. */
  came: string;
}

/** What happened to one run, as far as its producer and its observers know. */
export interface RunHistory {
  plan: PlannedRun;
  /** accepted: Drover said so. refused: it said no. unsure: neither is known. */
  acceptance: "accepted" | "refused" | "unsure";
  /** The code with which it was refused. */
  refusedAs: string | null;
  runId: string | null;
  threadId: string;
  attempts: Attempt[];
  cancelled: boolean;
  /** How often an operator tried it again after it had failed. */
  retries: number;
  /** As it was when its end was seen. */
  seen: Run | null;
  /** As it is when everything is over. */
  record: Run | null;
  events: RunEvent[];
  approvals: Approval[];
}

/** What the harness did, for the one who reads a failure. */
export interface Happening {
  at: number;
  what: string;
}
