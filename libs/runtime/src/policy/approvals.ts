import { DroverError, matchesTool } from "@drover/contracts";
import { AIMessage, type ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { interrupt } from "@langchain/langgraph";
import { type RunContext, runOf } from "../execute/run-context.js";
import { approvalRuleFor } from "./approval-rules.js";
import { withEditedCalls } from "./edited-message.js";
import { toolLimitAhead } from "./limits.js";
import { marksOf } from "./marks.js";
import type { CallInQuestion, EffectivePolicy } from "./policy.js";
import { decided, decisionsIn, type Gated, gatedBy, questionAbout } from "./questions.js";
import { errorAnswer, limitAnswer, limitMessage } from "./tool-answers.js";

type State = CallInQuestion["state"];
type Runtime = CallInQuestion["runtime"];

export interface AfterModel {
  messages: (AIMessage | ToolMessage)[];
  jumpTo?: "model";
}

/**
 * Asks about the gated calls of one answer of the model, all in one interrupt. What a guard or a limit refuses is
 * never offered. Each call has its own outcome: an approved one runs, an edited one runs as edited, a rejected one
 * and one that was responded to have their answer, and those that need no decision run.
 *
 * Runs again from its start when the decisions have come. Which calls were asked about is then told by the
 * decisions, which carry the calls' ids: `when` and limits may think otherwise by then.
 */
export async function askForApproval(
  policy: EffectivePolicy,
  tools: ReadonlySet<string> | undefined,
  state: State,
  given: Runtime,
): Promise<AfterModel | undefined> {
  const last = state.messages.at(-1);
  if (!AIMessage.isInstance(last) || !last.tool_calls?.length) return undefined;
  const run = runOf(given);
  const runtime = { ...given, context: run.context };
  const calls = last.tool_calls;
  const asked = askedAbout(calls, run);
  const gated: Gated[] = [];
  const answers: ToolMessage[] = [];
  const ahead: string[] = [];
  for (const call of calls) {
    if (tools && !tools.has(call.name)) continue;
    if (asked?.has(call.id ?? "")) {
      gated.push({ call, rule: approvalRuleFor(policy, call.name) ?? missingRule(call) });
    } else {
      const request = { toolCall: call, state, runtime };
      const rule = await gatedBy(policy, request);
      const refusal = rule && (await refusedAhead(policy, request, ahead, run));
      if (refusal) {
        answers.push(refusal);
        continue;
      }
      // A call that was not asked about and would be now is left to the gate in front of its tool.
      if (rule && !asked) gated.push({ call, rule });
    }
    ahead.push(call.name);
  }
  if (gated.length === 0) return outcome(last, new Map(), answers);
  const decisions = decisionsIn(interrupt(await questionAbout(gated, state, runtime)), gated);
  const edits = new Map<string, ToolCall>();
  gated.forEach(({ call }, i) => {
    const decision = decisions[i];
    if (!decision) return;
    const result = decided(call, decision);
    if ("answer" in result) answers.push(result.answer);
    else edits.set(call.id ?? "", result.run);
  });
  return outcome(last, edits, answers);
}

function outcome(
  last: AIMessage,
  passed: ReadonlyMap<string, ToolCall>,
  answers: ToolMessage[],
): AfterModel | undefined {
  if (passed.size === 0 && answers.length === 0) return undefined;
  const calls = last.tool_calls ?? [];
  // A call that was edited into one of another tool is that tool's: the gate in front of it asks again.
  const approved = calls.flatMap(({ id = "", name }) => (passed.get(id)?.name === name ? [id] : []));
  const marks = { ...marksOf(last), approved: [...(marksOf(last).approved ?? []), ...approved] };
  const messages = [withEditedCalls(last, passed, marks), ...answers];
  // With nothing left to run, LangChain would end the run on these answers: the model is to read them first.
  return answers.length === calls.length ? { messages, jumpTo: "model" } : { messages };
}

/** The ids that this run's decisions are about, if they are about calls of this answer. */
function askedAbout(calls: readonly ToolCall[], { activation }: RunContext): Set<string> | undefined {
  for (const value of Object.values(activation.resume?.values ?? {})) {
    const list = typeof value === "object" && value !== null && "decisions" in value ? value.decisions : [];
    const ids = Array.isArray(list) ? list.map((decision) => String(decision?.toolCallId)) : [];
    if (ids.length > 0 && ids.every((id) => calls.some((call) => call.id === id))) return new Set(ids);
  }
  return undefined;
}

function missingRule(call: ToolCall): never {
  throw new DroverError(
    "INVALID_DECISION",
    `The policy does not ask about '${call.name}' any more: the agent changed while its question waited.`,
  );
}

/** What refuses a call before anybody is asked about it; throws TOOL_CALL_LIMIT where the limit says so. */
async function refusedAhead(
  policy: EffectivePolicy,
  request: CallInQuestion,
  ahead: readonly string[],
  run: RunContext,
): Promise<ToolMessage | undefined> {
  const { toolCall: call } = request;
  const why = await refusedByGuard(policy, request);
  if (why !== undefined) return errorAnswer(call, why);
  const reached = await toolLimitAhead(policy, call.name, ahead, run);
  if (reached?.rule.onLimit === "error")
    throw new DroverError("TOOL_CALL_LIMIT", limitMessage(call, reached));
  return reached && limitAnswer(call, reached);
}

/** Why a guard refuses a call, or undefined. */
export async function refusedByGuard(
  policy: EffectivePolicy,
  request: CallInQuestion,
): Promise<string | undefined> {
  for (const [pattern, guard] of Object.entries(policy.guards)) {
    if (!matchesTool(pattern, request.toolCall.name)) continue;
    const why = await guard(request);
    if (why !== undefined) return why;
  }
  return undefined;
}

/**
 * Stands in front of a tool: no way leads to a gated call without a decision, also where a middleware jumped past
 * the node that asks. Gives the call as it may run, or the answer in its place.
 */
export async function passGate(
  policy: EffectivePolicy,
  request: CallInQuestion,
): Promise<{ run: ToolCall } | { answer: ToolMessage }> {
  const { toolCall: call, state, runtime } = request;
  const why = await refusedByGuard(policy, request);
  if (why !== undefined) return { answer: errorAnswer(call, why) };
  if (isApproved(call, state)) return { run: call };
  const rule = await gatedBy(policy, request);
  if (!rule) return { run: call };
  const gated = [{ call, rule }];
  const [decision] = decisionsIn(interrupt(await questionAbout(gated, state, runtime)), gated);
  const result = decision ? decided(call, decision) : { run: call };
  if ("answer" in result || result.run.name === call.name) return result;
  return passGate(policy, { ...request, toolCall: result.run });
}

/** Ids are the provider's, and some use one again: only the newest answer with this call counts. */
function isApproved({ id = "" }: ToolCall, state: State): boolean {
  const asker = state.messages.findLast(
    (message) => AIMessage.isInstance(message) && message.tool_calls?.some((call) => call.id === id),
  );
  return asker !== undefined && (marksOf(asker).approved?.includes(id) ?? false);
}
