import { type Decision, DroverError, decisionSchema } from "@drover/contracts";
import { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { type ApprovalRule, approvalRuleFor } from "./approval-rules.js";
import type { CallInQuestion, EffectivePolicy } from "./policy.js";
import { errorAnswer } from "./tool-answers.js";

/** A call that waits for a decision, by its rule. */
export interface Gated {
  call: ToolCall;
  rule: ApprovalRule;
}

/** The value of the interrupt: LangChain's human-in-the-loop shape, with the id of each call beside it. */
export interface ApprovalQuestion {
  actionRequests: { id: string; name: string; args: Record<string, unknown>; description: string }[];
  reviewConfigs: { actionName: string; allowedDecisions: string[] }[];
}

/** The rule by which a call needs a decision now; undefined where it may run. A `when` that throws asks. */
export async function gatedBy(
  policy: EffectivePolicy,
  request: CallInQuestion,
): Promise<ApprovalRule | undefined> {
  const rule = approvalRuleFor(policy, request.toolCall.name);
  if (!rule?.when) return rule;
  try {
    return (await rule.when(request)) ? rule : undefined;
  } catch {
    return rule;
  }
}

export async function questionAbout(
  gated: readonly Gated[],
  state: CallInQuestion["state"],
  runtime: CallInQuestion["runtime"],
): Promise<ApprovalQuestion> {
  return {
    actionRequests: await Promise.all(
      gated.map(async ({ call, rule: { description } }) => ({
        id: call.id ?? "",
        name: call.name,
        args: call.args,
        description:
          (typeof description === "function" ? await description(call, state, runtime) : description) ??
          `Tool execution requires approval\n\nTool: ${call.name}\nArgs: ${JSON.stringify(call.args, null, 2)}`,
      })),
    ),
    reviewConfigs: gated.map(({ call, rule }) => ({
      actionName: call.name,
      allowedDecisions: [...rule.decisions],
    })),
  };
}

/** Reads the value that a question was answered with. Throws INVALID_DECISION. */
export function decisionsIn(value: unknown, gated: readonly Gated[]): Decision[] {
  const list =
    typeof value === "object" && value !== null && "decisions" in value ? value.decisions : undefined;
  if (!Array.isArray(list) || list.length !== gated.length) {
    throw new DroverError(
      "INVALID_DECISION",
      `The question needs ${gated.length} decisions, one for each call.`,
    );
  }
  return list.map((given: Record<string, unknown>, i) => {
    const { toolCallId, ...rest } = given ?? {};
    if (toolCallId !== undefined && toolCallId !== gated[i]?.call.id) {
      throw new DroverError("INVALID_DECISION", `Decision ${i + 1} is about another tool call.`);
    }
    const parsed = decisionSchema.safeParse(rest);
    const allowed = gated[i]?.rule.decisions ?? [];
    if (parsed.success && allowed.includes(parsed.data.type)) return parsed.data;
    throw new DroverError(
      "INVALID_DECISION",
      `Decision ${i + 1} is not one of ${allowed.join(", ")}, or has the wrong shape.`,
    );
  });
}

/** What one decision makes of its call: the call that may run, or the answer that stands in its place. */
export function decided(call: ToolCall, decision: Decision): { run: ToolCall } | { answer: ToolMessage } {
  switch (decision.type) {
    case "approve":
      return { run: call };
    case "edit":
      return { run: { ...call, name: decision.editedAction.name, args: decision.editedAction.args } };
    case "reject":
      return {
        answer: errorAnswer(
          call,
          decision.message ?? `User rejected the tool call for \`${call.name}\` with id ${call.id}`,
        ),
      };
    case "respond":
      return {
        answer: new ToolMessage({ content: decision.message, name: call.name, tool_call_id: call.id ?? "" }),
      };
  }
}
