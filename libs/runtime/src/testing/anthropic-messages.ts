import { frame, pieces, recordsOf, textOf, toolCallsOf, usageOf } from "./json.js";
import type { ProviderReply, ProviderRequest, Wire } from "./reply.js";

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function error(status: number, message: string, type?: string): unknown {
  return { type: "error", error: { type: type ?? ERROR_TYPES[status] ?? "api_error", message } };
}

function stopReason(reply: ProviderReply): string {
  if (reply.finishReason === "length") return "max_tokens";
  if (reply.finishReason !== undefined) return "refusal";
  return reply.toolCalls?.length ? "tool_use" : "end_turn";
}

/** Anthropic counts cached tokens apart from `input_tokens`. */
function usage(reply: ProviderReply): { input_tokens: number; output_tokens: number } {
  const { input, output, cached } = usageOf(reply);
  const counts = { cache_creation_input_tokens: 0, cache_read_input_tokens: cached };
  return { input_tokens: input - cached, output_tokens: output, ...counts };
}

function message(
  request: ProviderRequest,
  content: unknown[],
  stop: string | null,
  counts: unknown,
): unknown {
  return {
    id: `msg_${request.number}`,
    type: "message",
    role: "assistant",
    model: request.model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: counts,
  };
}

/** Arguments that are not JSON can only be streamed; a whole body carries them as a string. */
function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function answer(reply: ProviderReply, request: ProviderRequest): unknown {
  const content: unknown[] = [];
  if (reply.thinking) {
    content.push({ type: "thinking", thinking: reply.thinking.text, signature: reply.thinking.signature });
  }
  if (reply.text !== undefined) content.push({ type: "text", text: reply.text });
  for (const { id, name, args } of toolCallsOf(reply, request)) {
    content.push({ type: "tool_use", id, name, input: parsedOrText(args) });
  }
  return message(request, content, stopReason(reply), usage(reply));
}

function frames(reply: ProviderReply, request: ProviderRequest): string[] {
  const sent: string[] = [];
  const event = (type: string, fields: Record<string, unknown> = {}) =>
    sent.push(frame({ type, ...fields }, type));
  const block = (index: number, start: unknown, deltas: unknown[]) => {
    event("content_block_start", { index, content_block: start });
    for (const delta of deltas) event("content_block_delta", { index, delta });
    event("content_block_stop", { index });
  };
  const counts = usage(reply);
  event("message_start", { message: message(request, [], null, { ...counts, output_tokens: 0 }) });
  let index = 0;
  if (reply.thinking) {
    const deltas = pieces(reply.thinking.text).map((thinking) => ({ type: "thinking_delta", thinking }));
    const { signature } = reply.thinking;
    const signed = { type: "signature_delta", signature };
    block(index++, { type: "thinking", thinking: "", signature: "" }, [...deltas, signed]);
  }
  if (reply.text !== undefined) {
    const deltas = pieces(reply.text).map((text) => ({ type: "text_delta", text }));
    block(index++, { type: "text", text: "" }, deltas);
  }
  for (const { id, name, args } of toolCallsOf(reply, request)) {
    const deltas = pieces(args).map((partial) => ({ type: "input_json_delta", partial_json: partial }));
    block(index++, { type: "tool_use", id, name, input: {} }, deltas);
  }
  event("message_delta", {
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    usage: { output_tokens: counts.output_tokens },
  });
  event("message_stop");
  return sent;
}

/** A user message holds tool results as blocks; each becomes a message of its own with the role `tool`. */
function messages(body: Record<string, unknown>): { role: string; text: string }[] {
  const system = body.system === undefined ? [] : [{ role: "system", text: textOf(body.system) }];
  const conversation = recordsOf(body.messages).flatMap(({ role, content }) => {
    const results = recordsOf(content).filter((part) => part.type === "tool_result");
    if (results.length === 0) return [{ role: String(role), text: textOf(content) }];
    return results.map((result) => ({ role: "tool", text: textOf(result.content) }));
  });
  return [...system, ...conversation];
}

/** POST /v1/messages, as Anthropic speaks it. */
export const anthropicMessages: Wire = {
  api: "anthropic-messages",
  path: "/v1/messages",
  hasKey: (headers) => Boolean(headers["x-api-key"]) || /^Bearer \S/.test(headers.authorization ?? ""),
  messages,
  tools: (body) => recordsOf(body.tools).map((tool) => String(tool.name)),
  answer,
  frames,
  error,
  errorFrame: (text, type) => frame(error(500, text, type), "error"),
};
