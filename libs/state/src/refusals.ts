import { channel } from "node:diagnostics_channel";
import { DroverError, type Lease } from "@drover/contracts";
import type { StoredAnswer } from "./stored-answer.js";

/** Told of every write that Redis refused because its lease was gone: a `Lease`. */
export const STALE_WRITES = channel("drover:stale-write");

export function leaseLost(lease: Lease): DroverError {
  STALE_WRITES.publish(lease);
  return new DroverError(
    "LEASE_LOST",
    `Another worker has taken over thread '${lease.threadId}'; run ${lease.runId} goes on there and this write was refused.`,
  );
}

export function unknownRun(runId: string): DroverError {
  return new DroverError(
    "UNKNOWN_RUN",
    `There is no run '${runId}'. \`drover runs list\` shows those that are kept.`,
  );
}

export function threadInUse(threadId: string, runId: string): DroverError {
  return new DroverError(
    "ILLEGAL_TRANSITION",
    `Run ${runId} of thread '${threadId}' is not over; cancel it before you erase the thread.`,
  );
}

export function idempotencyConflict(): DroverError {
  return new DroverError(
    "IDEMPOTENCY_CONFLICT",
    "The idempotency key was used before with another request. Use a new key, or send the same request again.",
  );
}

export function answeredBefore(approvalId: string, { answer, audit }: StoredAnswer): DroverError {
  if (audit?.door === "expiry") return expired(approvalId);
  const by = answer?.decidedBy;
  return new DroverError(
    "APPROVAL_ANSWERED",
    `Approval ${approvalId} was answered before${by ? ` by ${by}` : ""}; that answer holds.`,
  );
}

/** @param what the word of resume.lua @param state the run's, where the approval is closed */
export function notAnswerable(approvalId: string, what: string, state: string): DroverError {
  switch (what) {
    case "expired":
      return expired(approvalId);
    case "early":
      return new DroverError("ILLEGAL_TRANSITION", `The time of approval ${approvalId} is not over.`);
    case "closed":
      return new DroverError(
        "ILLEGAL_TRANSITION",
        `Approval ${approvalId} no longer waits: its run is ${state}.`,
      );
    default:
      return new DroverError("UNKNOWN_APPROVAL", `There is no approval '${approvalId}'.`);
  }
}

function expired(approvalId: string): DroverError {
  return new DroverError(
    "APPROVAL_EXPIRED",
    `Approval ${approvalId} waited for longer than its policy allows; what the policy says for that case was done.`,
  );
}
