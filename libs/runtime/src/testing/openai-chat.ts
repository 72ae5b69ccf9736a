import { frame, isRecord, pieces, recordsOf, textOf, toolCallsOf, usageOf } from "./json.js";
import type { ProviderReply, ProviderRequest, Wire } from "./reply.js";

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "invalid_request_error",
  403: "permission_error",
  404: "invalid_request_error",
  429: "requests",
};

/** OpenAI's error body; its Responses API uses the same. */
export function openAIError(status: number, message: string, type?: string): unknown {
  const known = type ?? ERROR_TYPES[status] ?? "server_error";
  const code = status === 401 ? "invalid_api_key" : status === 429 ? (type ?? "rate_limit_exceeded") : null;
  return { error: { message, type: known, param: null, code } };
}

export function hasBearer(headers: Record<string, unknown>): boolean {
  return /^Bearer \S/.test(String(headers.authorization ?? ""));
}

function finishReason(reply: ProviderReply): string {
  if (reply.finishReason === "length" || reply.finishReason === "content_filter") return reply.finishReason;
  return reply.toolCalls?.length ? "tool_calls" : "stop";
}

function usage(reply: ProviderReply): unknown {
  const { input, output, cached, reasoning } = usageOf(reply);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  };
}

function head(request: ProviderRequest, object: string): Record<string, unknown> {
  return {
    id: `chatcmpl-${request.number}`,
    object,
    created: Math.floor(request.at / 1000),
    model: request.model,
  };
}

function answer(reply: ProviderReply, request: ProviderRequest): unknown {
  const refused = reply.finishReason === "refusal";
  const calls = toolCallsOf(reply, request).map(({ id, name, args }) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  }));
  const message = {
    role: "assistant",
    content: refused ? null : (reply.text ?? null),
    refusal: refused ? (reply.text ?? "I can't help with that.") : null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    ...head(request, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }],
    usage: usage(reply),
  };
}

function frames(reply: ProviderReply, request: ProviderRequest): string[] {
  const chunk = (delta: unknown, finish: string | null = null) =>
    frame({
      ...head(request, "chat.completion.chunk"),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    });
  const field = reply.finishReason === "refusal" ? "refusal" : "content";
  const sent = [chunk({ role: "assistant", content: "" })];
  for (const piece of pieces(reply.text ?? "")) sent.push(chunk({ [field]: piece }));
  toolCallsOf(reply, request).forEach(({ id, name, args }, index) => {
    sent.push(
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...pieces(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    );
  });
  sent.push(chunk({}, finishReason(reply)));
  if (isRecord(request.body.stream_options) && request.body.stream_options.include_usage === true) {
    sent.push(frame({ ...head(request, "chat.completion.chunk"), choices: [], usage: usage(reply) }));
  }
  sent.push("data: [DONE]\n\n");
  return sent;
}

/** POST /v1/chat/completions, as OpenAI, Ollama and vLLM speak it. */
export const openAIChat: Wire = {
  api: "openai-chat",
  path: "/v1/chat/completions",
  hasKey: hasBearer,
  messages: (body) =>
    recordsOf(body.messages).map(({ role, content }) => ({ role: String(role), text: textOf(content) })),
  tools: (body) =>
    recordsOf(body.tools).map((tool) => String(isRecord(tool.function) ? tool.function.name : tool.name)),
  answer,
  frames,
  error: openAIError,
  errorFrame: (message, type) => frame(openAIError(500, message, type)),
};
