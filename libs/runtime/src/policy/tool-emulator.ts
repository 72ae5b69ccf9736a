import { matchesTool } from "@drover/contracts";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCallRequest } from "langchain";
import type { RunContext } from "../execute/run-context.js";
import { askModel } from "./internal-call.js";
import type { EffectivePolicy } from "./policy.js";
import { errorAnswer } from "./tool-answers.js";

export function isEmulated({ toolEmulator }: EffectivePolicy, tool: string): boolean {
  if (!toolEmulator) return false;
  return toolEmulator.tools?.some((pattern) => matchesTool(pattern, tool)) ?? true;
}

/** What a model says that the tool would answer. The tool itself is not called. Throws ModelCallError. */
export async function emulated(
  policy: EffectivePolicy,
  model: BaseChatModel,
  { toolCall: call, tool }: ToolCallRequest,
  run: RunContext,
): Promise<ToolMessage> {
  const prompt = [
    "You stand in for a tool, for a test. Answer what the tool would answer, and nothing else.",
    `Tool: ${call.name}`,
    `What it does: ${typeof tool?.description === "string" ? tool.description : "nothing is known about it"}`,
    `Arguments: ${JSON.stringify(call.args)}`,
  ].join("\n");
  const answer = await askModel(
    { policy, run, model, purpose: "toolEmulation" },
    [new HumanMessage(prompt)],
    (asked, messages, config) => asked.invoke(messages, config),
  );
  if (!answer) {
    return errorAnswer(call, "The limit of model calls was reached.", { endedBy: "model_call_limit" });
  }
  return new ToolMessage({
    content: answer.text,
    name: call.name,
    tool_call_id: call.id ?? "",
    status: "success",
  });
}
