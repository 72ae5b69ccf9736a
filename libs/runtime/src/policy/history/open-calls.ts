import { type BaseMessage, isAIMessage, isToolMessage, ToolMessage } from "@langchain/core/messages";

/**
 * The history with an answer to every tool call, as each provider demands it. A run that was cancelled, failed or
 * ran into a limit between a model's answer and its tools leaves calls without one; the model is told so. The same
 * history is given back where nothing is missing.
 */
export function withEveryCallAnswered(messages: BaseMessage[]): BaseMessage[] {
  const answered = new Set(messages.filter(isToolMessage).map((message) => message.tool_call_id));
  const isOpen = ({ id }: { id?: string }) => id !== undefined && !answered.has(id);
  if (!messages.some((message) => isAIMessage(message) && message.tool_calls?.some(isOpen))) return messages;
  return messages.flatMap((message) => {
    if (!isAIMessage(message)) return [message];
    const missing = (message.tool_calls ?? []).filter(isOpen).map(
      (call) =>
        new ToolMessage({
          content: `The call of '${call.name}' was not finished: the run ended before it. Its outcome is not known.`,
          name: call.name,
          tool_call_id: call.id ?? "",
          status: "error",
        }),
    );
    return [message, ...missing];
  });
}
