import { type AcceptedRequest, type ErrorInfo, type Notify, replacementReason } from "@drover/contracts";
import { subjectFields } from "./subject.js";

/** What admit.lua reads of a request; the rest of it scripts only carry. */
export function headOf(request: AcceptedRequest, hash: string): string {
  const { agent, batchId, priority, delayMs, deadlineMs, maxAttempts, multitaskStrategy } = request;
  const subjects = subjectFields(request.metadata);
  return JSON.stringify({
    ...{ hash, agent, batchId, priority, delayMs, deadlineMs, maxAttempts, strategy: multitaskStrategy },
    notify: notifyOf(request),
    concurrency: concurrencyOf(request),
    replaces: replacedAs(request),
    subjects: subjects.length > 0 ? subjects : undefined,
  });
}

/** Undefined where nobody asked to be told: such runs carry nothing. */
function notifyOf({ replyTo, webhook, correlationId }: AcceptedRequest): string | undefined {
  const notify: Notify = { replyTo, webhook, correlationId };
  return replyTo || webhook ? JSON.stringify(notify) : undefined;
}

/** Undefined where the run has no concurrency key of its own. */
function concurrencyOf({
  concurrencyKey: key,
  concurrencyLimit: limit,
}: AcceptedRequest): string | undefined {
  return key === undefined ? undefined : JSON.stringify({ key, limit: limit ?? null });
}

/** The error of the run that this one replaces, if its thread is busy. */
function replacedAs({ multitaskStrategy }: AcceptedRequest): string | undefined {
  const message = replacementReason(multitaskStrategy);
  return message && JSON.stringify({ code: "CANCELLED", message } satisfies ErrorInfo);
}
