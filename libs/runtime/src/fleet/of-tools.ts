import { matchesTool, type PolicyData } from "@drover/contracts";

/** Whether an agent with these tools can mean anything by a name; a pattern may mean a tool of run time. */
export const isFor = (tools: readonly string[]) => (pattern: string) =>
  pattern.includes("*") || tools.some((tool) => matchesTool(pattern, tool));

/** A fleet's defaults without what they say of tools that an agent does not have. */
export function defaultsFor(defaults: Partial<PolicyData>, tools: readonly string[]): Partial<PolicyData> {
  const has = isFor(tools);
  const only = <T>(record: Record<string, T>) =>
    Object.fromEntries(Object.entries(record).filter(([pattern]) => has(pattern)));
  const { toolCalls, toolRetry, approvals, once, toolErrors, toolSelector, toolEmulator, timeLimits } =
    defaults;
  const retries = toolRetry
    ?.map((rule) => (rule.tools ? { ...rule, tools: rule.tools.filter(has) } : rule))
    .filter((rule) => rule.tools?.length !== 0);
  const fitted = {
    toolCalls: toolCalls?.filter(({ tool }) => tool === undefined || has(tool)),
    toolRetry: retries,
    approvals: approvals && only(approvals),
    once: once?.filter(has),
    toolErrors: toolErrors?.tools ? { ...toolErrors, tools: only(toolErrors.tools) } : toolErrors,
    timeLimits: timeLimits?.tools ? { ...timeLimits, tools: only(timeLimits.tools) } : timeLimits,
    toolSelector: toolSelector && {
      ...toolSelector,
      alwaysInclude: toolSelector.alwaysInclude?.filter(has),
    },
    toolEmulator: toolEmulator?.tools
      ? { ...toolEmulator, tools: toolEmulator.tools.filter(has) }
      : toolEmulator,
  };
  const given = Object.entries(fitted).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}
