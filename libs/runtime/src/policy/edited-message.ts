import { AIMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";

type Record_ = Record<string, unknown>;

/**
 * The model's answer with other calls under the same ids. Providers keep copies of a call in several places of a
 * message, and are sent back theirs: all copies agree.
 *
 * - `tool_calls`: LangChain's own
 * - content blocks `tool_use` (Anthropic) and `tool_call` (LangChain's standard content)
 * - `additional_kwargs.tool_calls` (OpenAI chat completions)
 * - `response_metadata.output` (OpenAI responses)
 */
export function withEditedCalls(message: AIMessage, edits: ReadonlyMap<string, ToolCall>): AIMessage {
  const content = Array.isArray(message.content)
    ? message.content.map((block) => editedBlock(block as Record_, edits))
    : message.content;
  const { additional_kwargs: extra, response_metadata: metadata } = message;
  return new AIMessage({
    ...(message.lc_kwargs as Record_),
    content: content as AIMessage["content"],
    tool_calls: (message.tool_calls ?? []).map((call) => edits.get(call.id ?? "") ?? call),
    additional_kwargs: Array.isArray(extra.tool_calls)
      ? {
          ...extra,
          tool_calls: extra.tool_calls.map((call) => editedFunction(call as unknown as Record_, edits)),
        }
      : extra,
    response_metadata: Array.isArray(metadata.output)
      ? { ...metadata, output: metadata.output.map((item: Record_) => editedItem(item, edits)) }
      : metadata,
  } as ConstructorParameters<typeof AIMessage>[0]);
}

const editOf = (id: unknown, edits: ReadonlyMap<string, ToolCall>) =>
  typeof id === "string" ? edits.get(id) : undefined;

function editedBlock(block: Record_, edits: ReadonlyMap<string, ToolCall>): Record_ {
  const edit = editOf(block.id, edits);
  if (!edit) return block;
  if (block.type === "tool_use") return { ...block, name: edit.name, input: edit.args };
  return block.type === "tool_call" ? { ...block, name: edit.name, args: edit.args } : block;
}

function editedFunction(call: Record_, edits: ReadonlyMap<string, ToolCall>): Record_ {
  const edit = editOf(call.id, edits);
  if (!edit) return call;
  return {
    ...call,
    function: { ...(call.function as Record_), name: edit.name, arguments: JSON.stringify(edit.args) },
  };
}

function editedItem(item: Record_, edits: ReadonlyMap<string, ToolCall>): Record_ {
  const edit = item.type === "function_call" ? editOf(item.call_id, edits) : undefined;
  return edit ? { ...item, name: edit.name, arguments: JSON.stringify(edit.args) } : item;
}
