import { type CounterLimit, type Counters, DroverError, matchesTool } from "@drover/contracts";
import type { RunContext } from "../execute/run-context.js";
import type { EffectivePolicy } from "./policy.js";

export type ModelLimit = NonNullable<EffectivePolicy["modelCalls"]>;
export type ToolLimit = EffectivePolicy["toolCalls"][number];

/** A limit that has no unit left. */
export interface Reached<L> {
  rule: L;
  scope: "run" | "thread";
  limit: number;
}

/** What a call without a gate fails with where none is left. Tried again it would only be refused again. */
export class LimitReachedError extends Error {
  override readonly name = "LimitReachedError";
}

interface Rule {
  run?: number | undefined;
  thread?: number | undefined;
}

/** A counter that is always full: taken together with others, it tells whether they have a unit left and takes none. */
const FULL: CounterLimit = { scope: "run", name: "never", limit: 0 };

const countersOf = (rule: Rule, name: string): CounterLimit[] =>
  (["run", "thread"] as const).flatMap((scope) => {
    const limit = rule[scope];
    return limit === undefined ? [] : [{ scope, name, limit }];
  });

const nameOf = ({ tool }: ToolLimit) => (tool === undefined ? "tools" : `tool:${tool}`);
const rulesFor = (policy: EffectivePolicy, tool: string) =>
  policy.toolCalls.filter((rule) => rule.tool === undefined || matchesTool(rule.tool, tool));

/** Takes a unit of each, or of none; gives the first that has none left. `more` are taken with them and not told. */
async function take<L extends Rule>(
  counters: Counters,
  limits: readonly { rule: L; counter: CounterLimit }[],
  more: readonly CounterLimit[] = [],
): Promise<Reached<L> | undefined> {
  if (limits.length === 0) return undefined;
  const full = await counters.take([...limits.map(({ counter }) => counter), ...more]);
  const isFull = (counter: CounterLimit) => `${counter.scope}:${counter.name}` === full;
  if (full === null || more.some(isFull)) return undefined;
  const found = limits.find(({ counter }) => isFull(counter));
  if (!found) throw new DroverError("INTERNAL", `The counters refused '${full}', which was not asked for.`);
  return (
    found && { rule: found.rule, scope: found.counter.scope, limit: found.rule[found.counter.scope] ?? 0 }
  );
}

/** Takes the unit of one request to a provider, or tells which limit has none left. */
export async function takeModelUnit(
  policy: EffectivePolicy,
  run: RunContext,
): Promise<Reached<ModelLimit> | undefined> {
  const rule = policy.modelCalls;
  if (rule === undefined) return undefined;
  const limits = countersOf(rule, "model").map((counter) => ({ rule, counter }));
  const reached = await take(run.services.counters, limits);
  if (reached) countHit(run, "model_calls", reached.scope);
  return reached;
}

export function modelLimitMessage({ scope, limit }: Reached<ModelLimit>): string {
  return `The limit of ${limit} model calls for this ${scope} was reached.`;
}

export function modelLimitError(reached: Reached<ModelLimit>): DroverError {
  const advice = `Raise policy.modelCalls.${reached.scope} if it may do more.`;
  return new DroverError("MODEL_CALL_LIMIT", `${modelLimitMessage(reached)} ${advice}`);
}

/** Takes one unit of every limit that a tool's call counts for, or tells which has none left. */
export async function takeToolUnit(
  policy: EffectivePolicy,
  tool: string,
  run: RunContext,
): Promise<Reached<ToolLimit> | undefined> {
  const limits = rulesFor(policy, tool).flatMap((rule) =>
    countersOf(rule, nameOf(rule)).map((counter) => ({ rule, counter })),
  );
  const reached = await take(run.services.counters, limits);
  if (reached) countHit(run, reached.rule.tool === undefined ? "tool_calls" : "one_tool", reached.scope);
  return reached;
}

/**
 * The limit that would stop a tool's call after those of `before` have run; takes nothing. For calls that are to be
 * offered to a reviewer: nobody approves what will be refused.
 */
export async function toolLimitAhead(
  policy: EffectivePolicy,
  tool: string,
  before: readonly string[],
  run: RunContext,
): Promise<Reached<ToolLimit> | undefined> {
  const limits = rulesFor(policy, tool).flatMap((rule) => {
    const ahead = before.filter((name) => rule.tool === undefined || matchesTool(rule.tool, name)).length;
    return countersOf(rule, nameOf(rule)).map((counter) => ({
      rule,
      counter: { ...counter, limit: Math.max(0, counter.limit - ahead) },
    }));
  });
  return take(run.services.counters, limits, [FULL]);
}

function countHit(
  run: RunContext,
  limit: "model_calls" | "tool_calls" | "one_tool",
  scope: "run" | "thread",
) {
  run.services.metrics?.inc("drover_limit_hits_total", { agent: run.activation.agent, limit, scope });
}
