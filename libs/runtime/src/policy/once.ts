import { DroverError, isDroverError } from "@drover/contracts";
import { isAIMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { type Command, isCommand, isGraphBubbleUp } from "@langchain/langgraph";
import type { ToolCallRequest } from "langchain";
import { ToolInvocationError } from "langchain";
import { type RunContext, runOf } from "../execute/run-context.js";
import { trueCause } from "./failures.js";

/** What became of a call that was started and of whose end nothing is known. */
export type Reconciled =
  /** It happened: this is its result. */
  | { outcome: "done"; result: string }
  /** It did not happen: it may be started. */
  | { outcome: "not_done" }
  | { outcome: "unknown" };

/** Asks the other side what became of a call, by what it was given (its `toolCallId`, an order's number, …). */
export type Reconcile = (
  args: Record<string, unknown>,
  call: { toolCallId: string; startedAt: Date; context: unknown },
) => Promise<Reconciled> | Reconciled;

const RECONCILE = Symbol.for("drover.reconcile");

/** Gives a tool that is marked `once` the hook that finds out what became of a call whose worker died. */
export function withReconcile<T extends object>(tool: T, reconcile: Reconcile): T {
  return Object.assign(tool, { [RECONCILE]: reconcile });
}

/** What is kept of an answer. */
interface Kept {
  content: ToolMessage["content"];
  status: "success" | "error";
  artifact?: unknown;
}

type Answer = ToolMessage | Command;

/** How a tool marked once is called, and what stands around it. */
export interface OnceCall {
  request: ToolCallRequest;
  /** Asked once nothing was started before: an answer that stands in the tool's place, or undefined to go on. */
  refusal(): Promise<ToolMessage | undefined>;
  /** Calls the tool; its answer is redacted. */
  make(): Promise<Answer>;
}

/**
 * Makes a tool call at most once, whatever crashes: claimed before, committed after, replayed if it was committed.
 * A tool that throws has answered: its error is committed, and a model that wants another try makes another call.
 * @throws DroverError EFFECT_UNKNOWN where a call was started and nobody knows how it ended
 */
export async function once(call: OnceCall): Promise<Answer> {
  const { toolCall, runtime } = call.request;
  const run = runOf(runtime);
  const { effects } = run.services;
  const effectId = effectIdOf(call.request);
  const claim = await effects.claim(effectId);
  if (claim.state === "committed") return replayed(toolCall, claim.result as Kept, run);
  if (claim.state === "unknown") {
    const found = await reconciled(call.request, claim.startedAt);
    if (found.outcome === "done") {
      const kept: Kept = {
        content: run.services.redactor.text(found.result, "tool_result"),
        status: "success",
      };
      await effects.commit(effectId, kept);
      return replayed(toolCall, kept, run);
    }
    if (found.outcome === "unknown") throw unknown(toolCall, run);
  }
  return claimed(effectId, call, run);
}

/**
 * Names a tool call within its thread: the same wherever and whenever it is executed. Some providers number the calls
 * of each answer anew, so the answer's own id belongs to it.
 */
function effectIdOf({ toolCall, state, runtime }: ToolCallRequest): string {
  const asker = state.messages.findLast(
    (message) => isAIMessage(message) && message.tool_calls?.some((call) => call.id === toolCall.id),
  );
  return `${asker?.id ?? runtime.configurable?.checkpoint_ns ?? ""}:${toolCall.id}`;
}

async function claimed(effectId: string, call: OnceCall, run: RunContext): Promise<Answer> {
  const { effects } = run.services;
  let started = false;
  try {
    const refusal = await call.refusal();
    if (refusal) {
      await effects.release(effectId);
      return refusal;
    }
    started = true;
    const answer = await call.make();
    await effects.commit(effectId, keptOf(answer));
    return answer;
  } catch (error) {
    await concludeError(effectId, trueCause(error), started, run);
    throw error;
  }
}

async function concludeError(effectId: string, cause: unknown, started: boolean, { services }: RunContext) {
  // An abort says nothing about the other side: the claim stays, and the next worker finds it unknown.
  if (services.signal.aborted || isDroverError(cause, "LEASE_LOST")) return;
  const isQuestion = isGraphBubbleUp(cause as Parameters<typeof isGraphBubbleUp>[0]);
  if (!started || isQuestion || ToolInvocationError.isInstance(cause))
    return services.effects.release(effectId);
  const text = cause instanceof Error ? cause.message : String(cause);
  const content = services.redactor.text(`Error: ${text}`, "tool_result");
  await services.effects.commit(effectId, { content, status: "error" } satisfies Kept);
}

/** A Command's update of other channels is not kept: a tool marked once answers with text. */
function keptOf(answer: Answer): Kept {
  if (ToolMessage.isInstance(answer)) {
    return { content: answer.content, status: answer.status ?? "success", artifact: answer.artifact };
  }
  const messages =
    isCommand(answer) && answer.update && "messages" in answer.update ? answer.update.messages : [];
  const told = Array.isArray(messages)
    ? messages.find((message) => ToolMessage.isInstance(message))
    : undefined;
  return { content: told?.content ?? "Done.", status: told?.status ?? "success" };
}

function replayed(call: ToolCall, kept: Kept, run: RunContext): ToolMessage {
  run.services.metrics?.inc("drover_tool_calls_total", {
    agent: run.activation.agent,
    tool: call.name,
    outcome: "replayed",
  });
  return new ToolMessage({ ...kept, name: call.name, tool_call_id: call.id ?? "" });
}

async function reconciled(request: ToolCallRequest, startedAt: number): Promise<Reconciled> {
  const hook = (request.tool as { [RECONCILE]?: Reconcile } | undefined)?.[RECONCILE];
  if (!hook) return { outcome: "unknown" };
  const { id = "", args } = request.toolCall;
  const call = { toolCallId: id, startedAt: new Date(startedAt), context: request.runtime.context };
  return hook(args, call);
}

function unknown({ name, id }: ToolCall, { services, activation }: RunContext): DroverError {
  services.metrics?.inc("drover_effects_unknown_total", { agent: activation.agent, tool: name });
  return new DroverError(
    "EFFECT_UNKNOWN",
    `'${name}' (call ${id}) was started before and its outcome is not known, so it is not repeated. Look on the other side what ` +
      "became of it. A hook given with withReconcile() finds that out by itself.",
  );
}
