import { frame, pieces, recordsOf, textOf, toolCallsOf, usageOf } from "./json.js";
import { hasBearer, openAIError } from "./openai-chat.js";
import type { ProviderReply, ProviderRequest, Wire } from "./reply.js";

function output(reply: ProviderReply, request: ProviderRequest): Record<string, unknown>[] {
  const refused = reply.finishReason === "refusal";
  const items: Record<string, unknown>[] = [];
  if (reply.text !== undefined || refused) {
    const part = refused
      ? { type: "refusal", refusal: reply.text ?? "I can't help with that." }
      : { type: "output_text", text: reply.text, annotations: [] };
    items.push({
      type: "message",
      id: `msg_${request.number}`,
      role: "assistant",
      status: "completed",
      content: [part],
    });
  }
  for (const { id, name, args } of toolCallsOf(reply, request)) {
    items.push({
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: args,
      status: "completed",
    });
  }
  return items;
}

function response(reply: ProviderReply, request: ProviderRequest, finished = true): Record<string, unknown> {
  const { input, output: out, cached, reasoning } = usageOf(reply);
  const cutShort = reply.finishReason === "length" || reply.finishReason === "content_filter";
  const reason = reply.finishReason === "length" ? "max_output_tokens" : "content_filter";
  return {
    id: `resp_${request.number}`,
    object: "response",
    created_at: Math.floor(request.at / 1000),
    model: request.model,
    status: !finished ? "in_progress" : cutShort ? "incomplete" : "completed",
    error: null,
    incomplete_details: finished && cutShort ? { reason } : null,
    output: finished ? output(reply, request) : [],
    usage: finished
      ? {
          input_tokens: input,
          input_tokens_details: { cached_tokens: cached },
          output_tokens: out,
          output_tokens_details: { reasoning_tokens: reasoning },
          total_tokens: input + out,
        }
      : null,
  };
}

function frames(reply: ProviderReply, request: ProviderRequest): string[] {
  const sent: string[] = [];
  const event = (type: string, fields: Record<string, unknown>) =>
    sent.push(frame({ type, sequence_number: sent.length, ...fields }, type));
  event("response.created", { response: response(reply, request, false) });
  output(reply, request).forEach((item, index) => {
    const place = { output_index: index, item_id: item.id };
    if (item.type === "function_call") {
      event("response.output_item.added", { output_index: index, item: { ...item, arguments: "" } });
      for (const delta of pieces(String(item.arguments))) {
        event("response.function_call_arguments.delta", { ...place, delta });
      }
    } else {
      event("response.output_item.added", { output_index: index, item: { ...item, content: [] } });
      const kind = reply.finishReason === "refusal" ? "refusal" : "output_text";
      const text = reply.text ?? "";
      for (const delta of pieces(text))
        event(`response.${kind}.delta`, { ...place, content_index: 0, delta });
      const whole = kind === "refusal" ? { refusal: text } : { text };
      event(`response.${kind}.done`, { ...place, content_index: 0, ...whole });
    }
    event("response.output_item.done", { output_index: index, item });
  });
  const last = response(reply, request);
  event(`response.${last.status === "incomplete" ? "incomplete" : "completed"}`, { response: last });
  return sent;
}

function messages(body: Record<string, unknown>): { role: string; text: string }[] {
  if (typeof body.input === "string") return [{ role: "user", text: body.input }];
  return recordsOf(body.input).map((item) => {
    if (item.type === "function_call_output") return { role: "tool", text: textOf(item.output) };
    return { role: String(item.role ?? "assistant"), text: textOf(item.content) };
  });
}

/** POST /v1/responses, which the OpenAI client uses for some models and tools. */
export const openAIResponses: Wire = {
  api: "openai-responses",
  path: "/v1/responses",
  hasKey: hasBearer,
  messages,
  tools: (body) => recordsOf(body.tools).map((tool) => String(tool.name ?? tool.type)),
  answer: response,
  frames,
  error: openAIError,
  errorFrame: (message, type) => frame(openAIError(500, message, type), "error"),
};
