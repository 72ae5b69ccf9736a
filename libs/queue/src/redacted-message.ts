import { type InboxMessage, messageSchema, parseOrThrow, type Redactor } from "@drover/contracts";
import { redactedRequest } from "./redacted-request.js";

/**
 * A message as it may be put on the inbox: what its sender's rules cover is taken out before Redis sees it. Nothing is
 * added to it, and it is valid afterwards as it was before. For services that have rules as data and no agent's code.
 * @throws DroverError INVALID_MESSAGE, INVALID_INPUT for an id that a rule covers, PII_BLOCKED
 */
export function redactMessage<Message extends InboxMessage>(message: Message, redactor: Redactor): Message {
  parseOrThrow(messageSchema, message, "The message", "INVALID_MESSAGE");
  const redacted = redactedParts(message, redactor);
  return { ...message, ...redacted };
}

function redactedParts(message: InboxMessage, redactor: Redactor): object {
  switch (message.type) {
    case "run.start":
      return { request: redactedRequest(message.request, redactor) };
    case "run.resume": {
      const { decisions, value, comment, decidedBy } = message;
      return redactor.value(JSON.parse(JSON.stringify({ decisions, value, comment, decidedBy })), "approval");
    }
    case "run.cancel":
      return message.reason === undefined ? {} : { reason: redactor.text(message.reason, "error") };
    case "run.retry":
      return {};
  }
}
