import { DroverError, type Lease } from "@drover/contracts";

export function leaseLost(lease: Lease): DroverError {
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

export function idempotencyConflict(): DroverError {
  return new DroverError(
    "IDEMPOTENCY_CONFLICT",
    "The idempotency key was used before with another request. Use a new key, or send the same request again.",
  );
}
