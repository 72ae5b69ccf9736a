import { AIMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { type Marks, marked } from "./marks.js";

type Fields = Record<string, unknown>;

/**
 * The model's answer with other calls under the same ids, and with the policy's marks. Providers keep copies of a call in several places of a
 * message, and are sent back theirs: all copies agree.
 *
 * - `tool_calls`: LangChain's own
 * - content blocks `tool_use` (Anthropic) and `tool_call` (LangChain's standard content)
 * - `additional_kwargs.tool_calls` (OpenAI chat completions)
 * - `response_metadata.output` (OpenAI responses)
 */
export function withEditedCalls(
  message: AIMessage,
  edits: ReadonlyMap<string, ToolCall>,
  marks: Marks = {},
): AIMessage {
  const content = Array.isArray(message.content)
    ? message.content.map((block) => editedBlock(block as Fields, edits))
    : message.content;
  const { additional_kwargs: extra, response_metadata: metadata } = message;
  // Field by field: a chunk's own copy of the calls must not come along.
  const fields = {
    id: message.id,
    name: message.name,
    content,
    tool_calls: (message.tool_calls ?? []).map((call) => edits.get(call.id ?? "") ?? call),
    invalid_tool_calls: message.invalid_tool_calls,
    usage_metadata: message.usage_metadata,
    additional_kwargs: Array.isArray(extra.tool_calls)
      ? {
          ...extra,
          tool_calls: extra.tool_calls.map((call) => editedFunction(call as unknown as Fields, edits)),
        }
      : extra,
    response_metadata: marked(
      marks,
      Array.isArray(metadata.output)
        ? { ...metadata, output: metadata.output.map((item: Fields) => editedItem(item, edits)) }
        : metadata,
    ),
  };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return new AIMessage(given as ConstructorParameters<typeof AIMessage>[0]);
}

const editOf = (id: unknown, edits: ReadonlyMap<string, ToolCall>) =>
  typeof id === "string" ? edits.get(id) : undefined;

function editedBlock(block: Fields, edits: ReadonlyMap<string, ToolCall>): Fields {
  const edit = editOf(block.id, edits);
  if (!edit) return block;
  if (block.type === "tool_use") return { ...block, name: edit.name, input: edit.args };
  return block.type === "tool_call" ? { ...block, name: edit.name, args: edit.args } : block;
}

function editedFunction(call: Fields, edits: ReadonlyMap<string, ToolCall>): Fields {
  const edit = editOf(call.id, edits);
  if (!edit) return call;
  return {
    ...call,
    function: { ...(call.function as Fields), name: edit.name, arguments: JSON.stringify(edit.args) },
  };
}

function editedItem(item: Fields, edits: ReadonlyMap<string, ToolCall>): Fields {
  const edit = item.type === "function_call" ? editOf(item.call_id, edits) : undefined;
  return edit ? { ...item, name: edit.name, arguments: JSON.stringify(edit.args) } : item;
}
