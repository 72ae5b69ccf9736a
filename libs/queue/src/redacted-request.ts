import { DroverError, type Redactor, type RunRequest } from "@drover/contracts";

/** What names a run and its surroundings: stored as it is, in keys too, and compared. */
const NAMES = ["threadId", "idempotencyKey", "correlationId", "batchId", "concurrencyKey"] as const;

/**
 * A request as it may be written. Texts are redacted; a name is refused where a rule covers something in it, because
 * two names must not become one. The webhook's address is kept: it is where a rule's user wants the notices to go.
 * @throws DroverError INVALID_INPUT, PII_BLOCKED
 */
export function redactedRequest<Request extends RunRequest>(request: Request, redactor: Redactor): Request {
  for (const name of NAMES) {
    const given = request[name];
    if (given === undefined || redactor.text(given, "metadata") === given) continue;
    throw new DroverError(
      "INVALID_INPUT",
      `The run's ${name} holds what a PII rule covers, and it is stored as it is. Use an id of your own instead.`,
    );
  }
  return {
    ...request,
    input: redactor.value(request.input, "input"),
    ...(request.context ? { context: redactor.value(request.context, "input") } : {}),
    ...(request.metadata ? { metadata: redactor.value(request.metadata, "metadata") } : {}),
    ...(request.tags ? { tags: redactor.value(request.tags, "metadata") } : {}),
    ...(request.document === undefined ? {} : { document: redactor.text(request.document, "metadata") }),
  };
}
