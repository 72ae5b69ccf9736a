import { createHash } from "node:crypto";
import { DroverError } from "@drover/contracts";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";

/** The text of a message, its text blocks joined by line breaks. */
export function textOf(message: BaseMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .map((block) => (block.type === "text" && typeof block.text === "string" ? block.text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** Throws UNREADABLE_DOCUMENT if a message holds something else than text: rules can't look at a picture. */
export function assertOnlyText(messages: readonly BaseMessage[], modelName: string): void {
  for (const message of messages) {
    if (typeof message.content === "string") continue;
    const other = message.content.find((block) => MEDIA_BLOCKS.has(block.type));
    if (!other) continue;
    throw new DroverError(
      "UNREADABLE_DOCUMENT",
      `The model ${modelName} is a set of rules over text and cannot read a content block of type "${other.type}" ` +
        "(a picture, a scanned page or a file). Use a model that takes images, or give the document as text.",
    );
  }
}

const MEDIA_BLOCKS: ReadonlySet<string> = new Set([
  "image",
  "image_url",
  "input_image",
  "file",
  "input_file",
  "document",
  "audio",
  "input_audio",
  "video",
]);

/**
 * A hash of everything the model is shown: 24 hex digits. The ids of an answer derive from it, so that a step
 * that is executed again after a crash asks for the same tool calls under the same ids.
 */
export function fingerprint(messages: readonly BaseMessage[]): string {
  const hash = createHash("sha256");
  for (const message of messages) {
    hash.update(
      JSON.stringify([
        message.type,
        message.id ?? null,
        message.content,
        AIMessage.isInstance(message)
          ? (message.tool_calls ?? []).map(({ id, name, args }) => [id, name, args])
          : null,
        ToolMessage.isInstance(message) ? [message.tool_call_id, message.status ?? null] : null,
      ]),
    );
  }
  return hash.digest("hex").slice(0, 24);
}

/** What the messages weigh: four characters a token, as LangChain's own approximate counter has it. */
export function approximateTokens(messages: readonly BaseMessage[]): number {
  let characters = 0;
  for (const message of messages) {
    characters += textOf(message).length;
    if (AIMessage.isInstance(message)) characters += JSON.stringify(message.tool_calls ?? []).length;
  }
  return Math.ceil(characters / 4);
}
