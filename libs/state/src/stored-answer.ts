import type { Answer, ApprovalAudit, ErrorInfo } from "@drover/contracts";

/** An answer as it is kept with its run: what was decided, by whom, and the value that the graph is given. */
export interface StoredAnswer {
  interruptId: string;
  value: unknown;
  /** Null where the approval's time was over and its run ended by that. */
  answer: Answer | null;
  audit?: ApprovalAudit;
}

/** Whether an answer is there already because the same message brought it. */
export function isSameMessage(earlier: StoredAnswer, now: StoredAnswer): boolean {
  const id = now.audit?.messageId;
  return id != null && earlier.audit?.messageId === id;
}

/** How an approval is closed. */
export interface Closing {
  /** The approval's time is over; refused while it is not. Default: somebody answers, refused once it is. */
  isExpiry?: boolean;
  /** The only version of the agent that takes the answer; left out, any does. */
  version?: string | undefined;
  /** Ends the run with this error. */
  error?: ErrorInfo | undefined;
}
