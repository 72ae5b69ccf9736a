import { DroverError, matchesTool } from "@drover/contracts";
import type { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { Command, isCommand } from "@langchain/langgraph";
import type { ToolCallRequest, WrapToolCallHook } from "langchain";
import type { AgentModels } from "../agent/models.js";
import { type RunContext, runOf } from "../execute/run-context.js";
import { toolPastTheGate } from "../execute/ungated-calls.js";
import { takeToolUnit } from "./limits.js";
import { marksOf } from "./marks.js";
import { once } from "./once.js";
import type { EffectivePolicy } from "./policy.js";
import { errorAnswer, limitAnswer, limitMessage } from "./tool-answers.js";
import { emulated, isEmulated } from "./tool-emulator.js";
import { withinTime } from "./tool-time.js";

/**
 * The innermost layer around a tool, for every single try of a call: nothing after the run was stopped; one unit of
 * the limits first; a tool marked once at most once; and what comes back is redacted.
 */
export function toolGate(
  policy: EffectivePolicy,
  tools: readonly string[],
  models: AgentModels,
): WrapToolCallHook {
  return async (request, handler) => {
    const run = runOf(request.runtime);
    run.services.signal.throwIfAborted();
    const { toolCall: call, tool } = request;
    if (tool === undefined) return unknownTool(request, tools);
    const refusal = () => refusedByLimit(policy, call, run);
    const answer = isEmulated(policy, call.name)
      ? () => emulated(policy, models.emulator ?? models.primary, request, run)
      : () => withinTime(policy, request, handler as Parameters<typeof withinTime>[2], run);
    const make = async () => redacted(await toolPastTheGate(tool, answer), run);
    if (policy.once.some((pattern) => matchesTool(pattern, call.name)))
      return once({ request, refusal, make });
    return (await refusal()) ?? make();
  };
}

async function refusedByLimit(
  policy: EffectivePolicy,
  call: ToolCall,
  run: RunContext,
): Promise<ToolMessage | undefined> {
  const reached = await takeToolUnit(policy, call.name, run);
  if (reached?.rule.onLimit === "error")
    throw new DroverError("TOOL_CALL_LIMIT", limitMessage(call, reached));
  return reached && limitAnswer(call, reached);
}

/** Tells the model once which tools there are; a model that asks again for one that it was told of has failed. */
function unknownTool({ toolCall: call, state }: ToolCallRequest, tools: readonly string[]): ToolMessage {
  const toldBefore = state.messages.some(
    (message) => message.name === call.name && marksOf(message).unknownTool === true,
  );
  if (toldBefore) {
    throw new DroverError(
      "UNKNOWN_TOOL",
      `The model asked for the tool '${call.name}' again after it was told that there is none. The agent has: ${tools.join(", ") || "none"}.`,
    );
  }
  return errorAnswer(call, `Error: ${call.name} is not a valid tool, try one of [${tools.join(", ")}].`, {
    unknownTool: true,
  });
}

function redacted(answer: ToolMessage | Command, { services }: RunContext): ToolMessage | Command {
  if (!isCommand(answer)) return services.redactor.value(answer, "tool_result");
  const update = services.redactor.value(answer.update, "tool_result");
  if (update === answer.update) return answer;
  return new Command({
    ...(answer.graph === undefined ? {} : { graph: answer.graph }),
    ...(answer.goto === undefined ? {} : { goto: answer.goto }),
    ...(answer.resume === undefined ? {} : { resume: answer.resume }),
    ...(update === undefined ? {} : { update }),
  });
}
