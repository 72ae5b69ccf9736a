import { type Ceilings, DEFAULT_MODEL_TURNS, matchesTool } from "@drover/contracts";
import { least } from "../policy/least.js";
import type { EffectivePolicy } from "../policy/policy.js";
import { mandatoryApprovals } from "./mandatory-approvals.js";
import { isFor } from "./of-tools.js";
import { lowerTimes } from "./time-limits.js";

interface Limit {
  run?: number | undefined;
  thread?: number | undefined;
}

/** The lower of each; a run's limit above its thread's would never be reached. */
function lower(own: Limit, most: Limit): Limit {
  const thread = least(own.thread, most.thread);
  const run = own.run ?? most.run;
  return { thread, run: run === undefined ? undefined : least(run, most.run, thread) };
}

/** A policy under the ceilings of a fleet, for an agent with these tools. It is never looser than either. */
export function underCeilings(
  policy: EffectivePolicy,
  ceilings: Ceilings,
  tools: readonly string[],
): EffectivePolicy {
  const once = [...new Set([...policy.once, ...ceilings.once.filter(isFor(tools))])];
  const most = ceilings.maxRetries ?? Number.POSITIVE_INFINITY;
  const calm = <T extends { maxRetries: number }>(rule: T): T => ({
    ...rule,
    maxRetries: Math.min(rule.maxRetries, most),
  });
  return {
    ...policy,
    ...turns(policy, ceilings),
    modelCalls: modelCalls(policy, ceilings),
    toolCalls: toolCalls(policy, ceilings, tools),
    modelRetry: calm(policy.modelRetry),
    toolRetry: repeatable(policy.toolRetry, once).map(calm),
    timeLimits: lowerTimes(policy.timeLimits, ceilings.timeLimits, tools),
    approvals: mandatoryApprovals(policy.approvals, ceilings.approvals, tools),
    once,
    pii: [...ceilings.pii, ...policy.pii],
    signedMessages: [...new Set([...ceilings.signedMessages, ...policy.signedMessages])],
  };
}

function modelCalls({ modelCalls: own }: EffectivePolicy, { modelCalls: most }: Ceilings) {
  if (!most || (most.run === undefined && most.thread === undefined)) return own;
  return { onLimit: own?.onLimit ?? ("end" as const), ...lower(own ?? {}, most) };
}

function toolCalls(policy: EffectivePolicy, ceilings: Ceilings, tools: readonly string[]) {
  const has = isFor(tools);
  const limits = [...policy.toolCalls];
  for (const { tool, ...most } of ceilings.toolCalls) {
    if (tool !== undefined && !has(tool)) continue;
    const at = limits.findIndex((limit) => limit.tool === tool);
    const own = limits[at];
    if (own) limits[at] = { ...own, ...lower(own, most) };
    else limits.push({ tool, onLimit: "continue", ...lower({}, most) });
  }
  return limits;
}

/** An agent that counts steps itself keeps its number where that is lower than the turns need. */
function turns(
  policy: EffectivePolicy,
  { modelTurns: most }: Ceilings,
): Pick<EffectivePolicy, "modelTurns" | "recursionLimit"> {
  const { modelTurns, recursionLimit, modelCalls: calls } = policy;
  if (most === undefined || (recursionLimit !== undefined && recursionLimit <= 2 * most)) {
    return { modelTurns, recursionLimit };
  }
  const own = modelTurns ?? (calls?.run === undefined ? DEFAULT_MODEL_TURNS : calls.run + 1);
  return { modelTurns: Math.min(own, most), recursionLimit: undefined };
}

/** The rules of retry without the tools that are marked once: those are never repeated. */
function repeatable(
  rules: EffectivePolicy["toolRetry"],
  once: readonly string[],
): EffectivePolicy["toolRetry"] {
  const isOnce = (tool: string) => once.some((pattern) => pattern === tool || matchesTool(pattern, tool));
  return rules
    .map((rule) => (rule.tools ? { ...rule, tools: rule.tools.filter((tool) => !isOnce(tool)) } : rule))
    .filter((rule) => rule.tools?.length !== 0);
}
