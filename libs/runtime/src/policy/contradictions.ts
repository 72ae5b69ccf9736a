import { matchesTool } from "@drover/contracts";
import type { EffectivePolicy } from "./policy.js";

/** What an agent has, as far as a policy can contradict it. */
export interface PolicySubject {
  policy: EffectivePolicy;
  /** The names of the agent's tools, those of its middleware included. */
  tools: readonly string[];
  /** The names of the agent's own middleware. */
  middleware: readonly string[];
}

/** LangChain's middleware whose work a policy does, and where it is written instead. */
const POLICYS_WORK: Record<string, string> = {
  modelFallbackMiddleware: "'fallbacks' of the agent",
  modelRetryMiddleware: "policy.modelRetry",
  toolRetryMiddleware: "policy.toolRetry",
  toolErrorMiddleware: "policy.toolErrors",
  ModelCallLimitMiddleware: "policy.modelCalls",
  ToolCallLimitMiddleware: "policy.toolCalls",
  HumanInTheLoopMiddleware: "policy.approvals",
  PIIMiddleware: "policy.pii",
  PIIRedactionMiddleware: "policy.pii",
  SummarizationMiddleware: "policy.summarization",
  LLMToolSelector: "policy.toolSelector",
  ToolEmulatorMiddleware: "policy.toolEmulator",
  todoListMiddleware: "policy.todoList",
};

/** Every way in which the policy contradicts itself or its agent, each with its reason; empty if none. */
export function contradictions(subject: PolicySubject): string[] {
  return [
    ...unknownTools(subject),
    ...expiries(subject.policy),
    ...limits(subject.policy),
    ...retries(subject.policy),
    ...steps(subject.policy),
    ...middleware(subject.middleware),
  ];
}

function unknownTools({ policy, tools }: PolicySubject): string[] {
  const named: [string, string][] = [
    ...policy.toolCalls.flatMap((limit, i): [string, string][] =>
      limit.tool === undefined ? [] : [[`toolCalls.${i}.tool`, limit.tool]],
    ),
    ...policy.toolRetry.flatMap((retry, i) =>
      (retry.tools ?? []).map((tool): [string, string] => [`toolRetry.${i}.tools`, tool]),
    ),
    ...policy.once.map((tool): [string, string] => ["once", tool]),
    ...Object.keys(policy.approvals).map((tool): [string, string] => ["approvals", tool]),
    ...Object.keys(policy.guards).map((tool): [string, string] => ["guards", tool]),
    ...(policy.toolSelector?.alwaysInclude ?? []).map((tool): [string, string] => [
      "toolSelector.alwaysInclude",
      tool,
    ]),
    ...(policy.toolEmulator?.tools ?? []).map((tool): [string, string] => ["toolEmulator.tools", tool]),
    ...Object.keys(policy.timeLimits?.tools ?? {}).map((tool): [string, string] => [
      "timeLimits.tools",
      tool,
    ]),
    ...Object.keys(policy.toolErrors.tools).map((tool): [string, string] => ["toolErrors.tools", tool]),
  ];
  return named
    .filter(([, tool]) => !tool.includes("*") && !tools.includes(tool))
    .map(
      ([path, tool]) =>
        `${path}: the agent has no tool '${tool}' (it has ${tools.join(", ") || "none"}); a tool that is known only at run time is named by a pattern with '*'`,
    );
}

function expiries(policy: EffectivePolicy): string[] {
  return Object.entries(policy.approvals).flatMap(([tool, rule]) => {
    if (rule?.escalateTo && rule.expiresMs === undefined) {
      return [`approvals.${tool}: escalateTo without expiresMs: say after which time it is passed on`];
    }
    if (!rule || rule.expiresMs === undefined || rule.onExpire === "fail") return [];
    if (rule.decisions.includes(rule.onExpire)) return [];
    return [
      `approvals.${tool}: onExpire is '${rule.onExpire}', which is not among its decisions; add it, or let it fail`,
    ];
  });
}

function limits(policy: EffectivePolicy): string[] {
  const all = [
    ...(policy.modelCalls ? [{ path: "modelCalls", limit: policy.modelCalls }] : []),
    ...policy.toolCalls.map((limit, i) => ({ path: `toolCalls.${i}`, limit })),
  ];
  const found = all
    .filter(({ limit }) => (limit.run ?? 0) > (limit.thread ?? Number.POSITIVE_INFINITY))
    .map(
      ({ path, limit }) => `${path}: run ${limit.run} is never reached, the thread ends at ${limit.thread}`,
    );
  const seen = new Set<string>();
  for (const [i, { tool }] of policy.toolCalls.entries()) {
    const name = tool ?? "all tools";
    if (seen.has(name))
      found.push(`toolCalls.${i}: '${name}' has a limit already; write both numbers in one`);
    seen.add(name);
  }
  return found;
}

function retries(policy: EffectivePolicy): string[] {
  const found: string[] = [];
  const all = [
    { path: "modelRetry", retry: policy.modelRetry },
    ...policy.toolRetry.map((retry, i) => ({ path: `toolRetry.${i}`, retry })),
  ];
  for (const { path, retry } of all) {
    if (retry.maxDelayMs < retry.initialDelayMs && retry.maxRetries > 0) {
      found.push(
        `${path}: maxDelayMs ${retry.maxDelayMs} is below initialDelayMs ${retry.initialDelayMs}; raise it or lower the first delay`,
      );
    }
  }
  for (const [i, retry] of policy.toolRetry.entries()) {
    for (const tool of retry.tools ?? []) {
      if (policy.once.some((once) => once === tool || matchesTool(once, tool))) {
        found.push(`toolRetry.${i}: '${tool}' is marked once; a tool marked once is never repeated`);
      }
    }
  }
  return found;
}

function steps(policy: EffectivePolicy): string[] {
  if (policy.recursionLimit === undefined) return [];
  if (policy.modelTurns !== undefined) {
    return ["recursionLimit: the limit of steps follows from modelTurns; set one of them"];
  }
  const calls = policy.modelCalls?.run;
  if (calls !== undefined && policy.recursionLimit < 2 * calls) {
    return [
      `recursionLimit: ${policy.recursionLimit} steps end the run before its ${calls} model calls; leave it out, it is derived`,
    ];
  }
  return [];
}

function middleware(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const instead = POLICYS_WORK[name.replace(/\[.*$/, "")];
    return instead === undefined ? [] : [`middleware '${name}' does what the policy does: write ${instead}`];
  });
}
