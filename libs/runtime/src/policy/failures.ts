import { DroverError, type ErrorCode } from "@drover/contracts";
import { isGraphBubbleUp } from "@langchain/langgraph";
import { MiddlewareError } from "langchain";
import { classifyModelError, type ModelFailure } from "../models/index.js";

/** A model call that failed for good, with what the run's own retries need to know. */
export class ModelCallError extends DroverError {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(failure: ModelFailure, cause: unknown) {
    super(failure.code, failure.message, { cause });
    this.retryable = failure.retryable;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

export function toModelCallError(error: unknown): ModelCallError {
  return error instanceof ModelCallError ? error : new ModelCallError(classifyModelError(error), error);
}

/** The error under the wrappers that LangChain's middleware puts around it. */
export function trueCause(error: unknown): unknown {
  let current = error;
  while (MiddlewareError.isInstance(current) && current.cause !== undefined) current = current.cause;
  return current;
}

/** Errors that no retry, fallback or tool message may answer: they are about the run, not about a call. */
const ABOUT_THE_RUN = new Set<ErrorCode>([
  "LEASE_LOST",
  "CANCELLED",
  "DEADLINE_EXCEEDED",
  "RUN_TIMEOUT",
  "STEP_TIMEOUT",
  "TOOL_TIMEOUT",
  "MODEL_CALL_LIMIT",
  "TOOL_CALL_LIMIT",
  "RECURSION_LIMIT",
  "EFFECT_UNKNOWN",
  "UNKNOWN_TOOL",
  "TOOL_ERROR",
  "PII_BLOCKED",
  "PII_DETECTOR_FAILED",
  "NO_REDIS",
  "REDIS_REFUSED",
  "INTERNAL",
]);

/** Interrupts, parent commands, drains, aborts and errors about the run: they pass through everything. */
export function passesThrough(error: unknown, signal: AbortSignal): boolean {
  const cause = trueCause(error);
  if (signal.aborted) return true;
  if (isGraphBubbleUp(cause as Parameters<typeof isGraphBubbleUp>[0])) return true;
  return cause instanceof DroverError && !(cause instanceof ModelCallError) && ABOUT_THE_RUN.has(cause.code);
}
