import { DroverError, type EndedBy } from "@drover/contracts";
import { type AIMessage, AIMessageChunk } from "@langchain/core/messages";

/** How a model's answer ended. Only `completed` is an answer that the model finished. */
export type EndReason = Extract<EndedBy, "completed" | "truncated" | "refused" | "content_filter">;

/** The providers' own words, in lower case: OpenAI (both APIs), Anthropic, and some of LangChain's others. */
const REASONS: Readonly<Record<string, EndReason>> = {
  length: "truncated",
  max_tokens: "truncated",
  max_output_tokens: "truncated",
  model_length: "truncated",
  model_context_window_exceeded: "truncated",
  refusal: "refused",
  content_filter: "content_filter",
  content_filtered: "content_filter",
  guardrail_intervened: "content_filter",
  safety: "content_filter",
  recitation: "content_filter",
  prohibited_content: "content_filter",
  blocklist: "content_filter",
};

/**
 * How the answer ended, by the provider's word; `completed` where it gave none. The tool calls of an answer that was
 * cut off may have lost their last arguments without a sign (LangChain closes the open brackets): do not run them.
 */
export function endReason(message: AIMessage): EndReason {
  const word = finishWord(message);
  const reason = word === undefined ? undefined : REASONS[word.toLowerCase()];
  if (reason !== undefined) return reason;
  return message.additional_kwargs.refusal ? "refused" : "completed";
}

/** Streams and whole answers, and each provider, keep the word in another place. */
function finishWord({
  response_metadata: metadata,
  additional_kwargs: extra,
}: AIMessage): string | undefined {
  const incomplete = metadata.incomplete_details as { reason?: unknown } | null | undefined;
  const words = [
    incomplete?.reason,
    metadata.finish_reason,
    metadata.stop_reason,
    metadata.finishReason,
    metadata.stopReason,
    extra.stop_reason,
    metadata.status,
  ];
  return words.find((word): word is string => typeof word === "string" && word !== "");
}

/**
 * Refuses an answer that says `completed` and is of no use: nothing in it, tool calls whose arguments are no JSON
 * object, or a stream that stopped before its end without an error. Asking again may help.
 *
 * @throws DroverError MODEL_BAD_RESPONSE
 */
export function assertUsable(message: AIMessage): void {
  if (endReason(message) !== "completed") return;
  const provider = message.response_metadata.model_provider;
  if ((provider === "openai" || provider === "anthropic") && finishWord(message) === undefined) {
    throw bad("The model's answer broke off: its stream ended before the provider said that it was complete");
  }
  const broken = brokenToolCalls(message);
  if (broken.length > 0) {
    throw bad(`The model called ${broken.join(", ")} with arguments that are not a JSON object`);
  }
  if (!message.tool_calls?.length && !hasContent(message)) throw bad("The model's answer is empty");
}

function bad(say: string): DroverError {
  return new DroverError("MODEL_BAD_RESPONSE", `${say}. If this goes on, use another model or a fallback.`);
}

/**
 * Names of the tools whose arguments are unusable. A streamed call counts by its text: LangChain reads `{"a": 1`
 * as {a: 1} and text that is no JSON at all as {}, and the tool would run with that.
 */
function brokenToolCalls(message: AIMessage): string[] {
  const broken = (message.invalid_tool_calls ?? []).map((call) => call.name);
  const texts = AIMessageChunk.isInstance(message) ? (message.tool_call_chunks ?? []) : [];
  for (const { name, args } of texts) if (args && !isJsonObject(args)) broken.push(name);
  for (const { name, args } of message.tool_calls ?? []) if (!isObject(args)) broken.push(name);
  return [...new Set(broken.map((name) => name || "a tool without a name"))];
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Anything but empty text counts: a picture is an answer; reasoning alone is not. */
function hasContent({ content }: AIMessage): boolean {
  if (typeof content === "string") return content.trim() !== "";
  return content.some((block) => {
    if (block.type === "reasoning" || block.type === "thinking" || block.type === "redacted_thinking")
      return false;
    return block.type !== "text" || (typeof block.text === "string" && block.text.trim() !== "");
  });
}
