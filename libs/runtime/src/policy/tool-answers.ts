import { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { Reached, ToolLimit } from "./limits.js";
import { type Marks, marked } from "./marks.js";

/** An answer to a tool call that was not made, or that failed: what the model is told in the tool's place. */
export function errorAnswer(call: ToolCall, content: string, marks?: Marks): ToolMessage {
  return new ToolMessage({
    content,
    name: call.name,
    tool_call_id: call.id ?? "",
    status: "error",
    ...(marks === undefined ? {} : { response_metadata: marked(marks) }),
  });
}

/** What a call is answered that a limit does not let happen. The text begins as LangChain's own does. */
export function limitAnswer(call: ToolCall, { rule, scope, limit }: Reached<ToolLimit>): ToolMessage {
  const what = rule.tool === undefined ? "tools" : `'${call.name}'`;
  const text = `Tool call limit exceeded: this ${scope} may call ${what} ${limit} times.`;
  if (rule.onLimit === "end") return errorAnswer(call, text, { endedBy: "tool_call_limit" });
  return errorAnswer(call, `${text} Do not call ${what} again.`);
}

export function limitMessage(
  call: Pick<ToolCall, "name">,
  { rule, scope, limit }: Reached<ToolLimit>,
): string {
  const what = rule.tool === undefined ? "tools" : `'${call.name}'`;
  return `The limit of ${limit} calls of ${what} for this ${scope} was reached. Raise it in policy.toolCalls if more are right.`;
}
