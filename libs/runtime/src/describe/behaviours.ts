import type { AgentMiddleware } from "langchain";
import type { AgentDefinition } from "../agent/define-agent.js";
import { middlewareOf, PLACES, type Place, placeOf } from "../agent/placement.js";
import { asksForApproval } from "../policy/approval-rules.js";
import { plainSetting } from "./plain-setting.js";

export const MOMENTS = [
  "before the agent",
  "before the model",
  "around the model",
  "after the model",
  "around a tool",
  "after the agent",
] as const;
export type Moment = (typeof MOMENTS)[number];

/** One thing that happens in a run of an agent. Of one moment, the first is the outermost, or runs first. */
export interface Behaviour {
  moment: Moment;
  name: string;
  /** Why it stands where it stands. */
  why: string;
  /** What it is set to, as JSON. */
  setting?: unknown;
}

type Hook = "beforeAgent" | "beforeModel" | "afterModel" | "afterAgent" | "wrapModelCall" | "wrapToolCall";

const OWN: Readonly<Record<Place, string>> = {
  outermost: "the agent placed it outermost: it sees each turn and each call once",
  inner: "the agent's own, inside of fallbacks and retries: it sees each try",
  last: "the agent placed it last: inside of all its others, it sees each try",
};

/** Everything that is in effect, in order; the counterpart in words of policy/compile.ts. */
export function behavioursOf(definition: AgentDefinition): Behaviour[] {
  return [
    ...nodes(definition, "before the agent", "beforeAgent"),
    ...nodes(definition, "before the model", "beforeModel"),
    ...aroundModel(definition),
    ...afterModel(definition),
    ...aroundTool(definition),
    ...nodes(definition, "after the agent", "afterAgent"),
  ];
}

/** The agent's own middleware with a hook, in the order of the list. */
function own({ middleware = [] }: AgentDefinition, hook: Hook, place?: Place): AgentMiddleware[] {
  return middleware
    .filter((entry) => place === undefined || placeOf(entry) === place)
    .map(middlewareOf)
    .filter((entry) => entry[hook] !== undefined);
}

function wraps(definition: AgentDefinition, moment: Moment, hook: Hook, place: Place): Behaviour[] {
  return own(definition, hook, place).map(({ name }) => ({ moment, name, why: OWN[place] }));
}

/** Hooks before run first to last, hooks after run last to first; those placed outermost stand first in the list. */
function nodes(definition: AgentDefinition, moment: Moment, hook: Hook): Behaviour[] {
  const list = PLACES.flatMap((place) => own(definition, hook, place));
  const isAfter = hook.startsWith("after");
  const why = isAfter ? "hooks after run last to first" : "hooks before run first to last";
  return (isAfter ? list.reverse() : list).map(({ name }) => ({ moment, name, why }));
}

function aroundModel(definition: AgentDefinition): Behaviour[] {
  const { policy, fallbacks = [], responseFormat } = definition;
  const moment = "around the model";
  return [
    ...wraps(definition, moment, "wrapModelCall", "outermost"),
    ...behaviour(moment, "to-do list", policy.todoList, "its words are part of the prompt of every try"),
    ...behaviour(
      moment,
      "summarisation",
      policy.summarization,
      "around the retries: made once for a turn, and once more when a model refuses the context as too long",
    ),
    ...behaviour(
      moment,
      "tool selector",
      policy.toolSelector,
      "around the retries: the tools are chosen once for a turn",
    ),
    ...behaviour(
      moment,
      "fallback",
      fallbacks.length > 0 && fallbacks,
      "around the retries: each model gets all its tries before the next is asked",
    ),
    ...behaviour(
      moment,
      "model retry",
      policy.modelRetry,
      "inside of the fallback, and never for what the provider refused for good",
    ),
    ...wraps(definition, moment, "wrapModelCall", "inner"),
    ...wraps(definition, moment, "wrapModelCall", "last"),
    ...behaviour(
      moment,
      "limit of model calls",
      policy.modelCalls,
      "innermost: every request takes a unit first, retries and fallbacks too",
    ),
    ...behaviour(
      moment,
      "PII rules",
      policy.pii.length > 0 && policy.pii,
      "innermost: no middleware puts back what they take out",
    ),
    ...behaviour(
      moment,
      "response format",
      responseFormat !== undefined && "as the agent declares it",
      "innermost: a wrong shape is asked for again within the try",
    ),
  ];
}

function afterModel(definition: AgentDefinition): Behaviour[] {
  const { policy } = definition;
  const moment = "after the model";
  const afterOwn = (place: Place) =>
    own(definition, "afterModel", place)
      .reverse()
      .map(({ name }) => ({ moment, name, why: "hooks after run last to first" }) as const);
  const inside = [...afterOwn("last"), ...afterOwn("inner")];
  if (!asksForApproval(policy)) return [...inside, ...afterOwn("outermost")];
  return [
    ...inside,
    ...behaviour(
      moment,
      "guards",
      isSet(policy.guards),
      "before the question: nobody approves what is refused",
    ),
    ...behaviour(
      moment,
      "limits of tool calls",
      policy.toolCalls.length > 0 && policy.toolCalls,
      "before the question: a call that a limit blocks is not offered",
    ),
    ...behaviour(
      moment,
      "approval",
      policy.approvals,
      "one question for all calls of an answer, before any of them runs",
    ),
    ...afterOwn("outermost"),
  ];
}

function aroundTool(definition: AgentDefinition): Behaviour[] {
  const { policy } = definition;
  const moment = "around a tool";
  return [
    ...wraps(definition, moment, "wrapToolCall", "outermost"),
    ...behaviour(moment, "to-do list", policy.todoList, "of two lists in one answer none is written"),
    ...behaviour(
      moment,
      "guards",
      isSet(policy.guards),
      "before the approval and the retries: once for a call",
    ),
    ...behaviour(
      moment,
      "approval",
      asksForApproval(policy) && policy.approvals,
      "asks again for a call that came another way: there is no path past it",
    ),
    ...behaviour(
      moment,
      "tool retry",
      policy.toolRetry.length > 0 && policy.toolRetry,
      "once for each call that may be repeated",
    ),
    ...behaviour(
      moment,
      "tool errors",
      policy.toolErrors,
      "after the last try: what is left becomes an answer or fails the run",
    ),
    ...wraps(definition, moment, "wrapToolCall", "inner"),
    ...wraps(definition, moment, "wrapToolCall", "last"),
    ...behaviour(
      moment,
      "once",
      policy.once.length > 0 && policy.once,
      "outside of the limits: a call that is replayed takes no unit",
    ),
    ...behaviour(
      moment,
      "limits of tool calls",
      policy.toolCalls.length > 0 && policy.toolCalls,
      "innermost: every execution takes a unit first, retries too",
    ),
    ...behaviour(
      moment,
      "time limits",
      isSet({ ...policy.timeLimits?.tools, ...policy.timeLimits?.toolCeilings }) && policy.timeLimits,
      "around each execution, retries too; after it the tool's signal fires",
    ),
    ...behaviour(
      moment,
      "tool emulator",
      policy.toolEmulator,
      "innermost: everything around is as with the real tool",
    ),
    ...behaviour(
      moment,
      "PII rules",
      policy.pii.length > 0 && policy.pii,
      "innermost: what a tool answers is redacted before anything sees it",
    ),
  ];
}

const isSet = (record: object) => Object.keys(record).length > 0 && record;

function behaviour(moment: Moment, name: string, setting: unknown, why: string): Behaviour[] {
  if (setting === undefined || setting === false) return [];
  return [{ moment, name, why, setting: plainSetting(setting) }];
}
