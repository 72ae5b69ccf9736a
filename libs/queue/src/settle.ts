import {
  type ActionRequest,
  approvalId,
  DroverError,
  type ErrorCode,
  type ErrorInfo,
  type InterruptQuestion,
  type Lease,
  noUsage,
  type Outcome,
  type Transition,
} from "@drover/contracts";
import { DEFAULT_MAX_PAYLOAD, encodePayload, type Payload, type Settlement, type State } from "@drover/state";

/** Milliseconds before the second try of a run; doubles with each further one, up to a minute. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const STORE_FAILURES = new Set<ErrorCode>(["NO_REDIS", "REDIS_REFUSED"]);

export interface Budget {
  attempt: number;
  maxAttempts: number;
}

/**
 * Commits what an activation came to, before its delivery ends. The only translation of outcomes into states:
 * a new outcome does not compile until it is handled here. Null where there is nothing to publish: the
 * activation was settled before, or another worker has the run.
 */
export async function settle(
  state: State,
  lease: Lease,
  budget: Budget,
  outcome: Outcome,
): Promise<Transition | null> {
  if (outcome.kind === "superseded") return null;
  try {
    return await state.runs.settle(
      lease,
      outcome.usage ?? noUsage(),
      settlementOf(state, lease, budget, outcome),
    );
  } catch (error) {
    if (error instanceof DroverError && error.code === "LEASE_LOST") return null;
    throw error;
  }
}

function settlementOf(
  state: State,
  lease: Lease,
  budget: Budget,
  outcome: Exclude<Outcome, { kind: "superseded" }>,
): Settlement {
  switch (outcome.kind) {
    case "completed": {
      const { output, error } = storable(outcome.output, state);
      if (error) return { what: "final", status: "error", endedBy: "error", error, output };
      return { what: "final", status: "success", endedBy: outcome.endedBy, error, output };
    }
    case "interrupted":
      return {
        what: "interrupted",
        checkpointId: outcome.checkpointId,
        approvals: outcome.questions.map((question) => ({
          approvalId: approvalId(lease.runId, lease.seq, question.interruptId),
          title: titleOf(question),
          question,
          ...(question.terms?.expiresMs ? { expiresMs: question.terms.expiresMs } : {}),
        })),
      };
    case "failed":
      // A Redis that was full or away is no fault of the run, and no try of it: this is committed once it is well.
      if (outcome.retryable && STORE_FAILURES.has(outcome.error.code)) {
        const delayMs = retryDelay(lease.seq);
        return { what: "again", kind: "retry", delayMs, error: outcome.error, spendsAttempt: false };
      }
      if (outcome.retryable && budget.attempt < budget.maxAttempts) {
        const delayMs = Math.max(retryDelay(budget.attempt), outcome.retryAfterMs ?? 0);
        return { what: "again", kind: "retry", delayMs, error: outcome.error, spendsAttempt: true };
      }
      return {
        what: "final",
        status: "error",
        endedBy: outcome.endedBy,
        error: outcome.error,
        output: null,
      };
    case "cancelled": {
      const error = { code: "CANCELLED", message: outcome.reason } as const;
      return { what: "final", status: "cancelled", endedBy: "cancelled", error, output: null };
    }
    case "timed_out":
      return {
        what: "final",
        status: "timeout",
        endedBy: "timeout",
        error: outcome.error,
        output: null,
      };
    case "yielded":
      return { what: "again", kind: "handover", delayMs: 0, error: null, spendsAttempt: false };
  }
}

/** An output as it is kept, or why it cannot be. */
function storable(
  output: unknown,
  { codec }: State,
): { output: Payload; error: null } | { output: null; error: ErrorInfo } {
  try {
    const limit = { bytes: DEFAULT_MAX_PAYLOAD, what: "The agent's output" };
    return { output: encodePayload(output, limit, codec), error: null };
  } catch (error) {
    if (error instanceof DroverError) return { output: null, error: error.toInfo() };
    return {
      output: null,
      error: {
        code: "AGENT_ERROR",
        message: "The agent's output is not JSON. Return plain objects, lists, texts and numbers.",
      },
    };
  }
}

/** Exponential with full second half as jitter, so that runs that failed together do not come back together. */
function retryDelay(attempt: number): number {
  const delay = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS);
  return delay / 2 + (Math.random() * delay) / 2;
}

/** One line for lists of approvals: never arguments, which may hold anything. */
export function titleOf(question: InterruptQuestion): string {
  return question.actions
    ? question.actions.map((action: ActionRequest) => action.name).join(", ")
    : "question";
}
