import type { Activation, RunEventData } from "@drover/contracts";
import { type BaseMessage, isAIMessage, isBaseMessage } from "@langchain/core/messages";
import { toPlain } from "./plain.js";
import type { Services } from "./services.js";

type Publish = (mode: string, data: unknown) => void;

/**
 * Turns a graph's stream into the events of a run. Everything goes through the redactor as a whole: pieces of a
 * streamed text are held back and sent with the step that they belong to where rules exist, because a rule can't
 * see a number that is cut in two.
 */
export function publisher({ attempt, seq }: Activation, services: Services, holdBack: boolean): Publish {
  const held = new Map<string, string>();
  const send = (event: Pick<RunEventData, "type"> & Record<string, unknown>) => {
    if (services.signal.aborted) return;
    services.onEvent(services.redactor.value({ ...event, attempt, seq }, "event") as unknown as RunEventData);
  };
  const flush = () => {
    for (const [messageId, text] of held) send({ type: "messages", messageId, text });
    held.clear();
  };
  return (mode, data) => {
    switch (mode) {
      case "messages": {
        const piece = pieceOf(data);
        if (!piece) return;
        if (!holdBack) return send({ type: "messages", ...piece });
        held.set(piece.messageId, (held.get(piece.messageId) ?? "") + piece.text);
        return;
      }
      case "updates":
        flush();
        for (const [node, update] of Object.entries(data as Record<string, unknown>)) {
          if (!node.startsWith("__")) send({ type: "updates", node, data: toPlain(update) });
        }
        return;
      case "values":
        return flush();
      default:
        return send({ type: "custom", data: toPlain(data) });
    }
  };
}

/** A new try of the same turn has another message id: a reader drops the text of the one before. */
function pieceOf(data: unknown): { messageId: string; text: string } | undefined {
  const message: BaseMessage | undefined =
    Array.isArray(data) && isBaseMessage(data[0]) ? data[0] : undefined;
  if (!message || !isAIMessage(message) || message.text === "") return undefined;
  return { messageId: message.id ?? "", text: message.text };
}
