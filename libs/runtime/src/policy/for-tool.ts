import { matchesTool } from "@drover/contracts";

/** What rules by tool say of one: its own name's before a pattern's, patterns in their order; undefined for nothing. */
export function forTool<T>(rules: Readonly<Record<string, T>>, tool: string): T | undefined {
  const pattern = Object.hasOwn(rules, tool)
    ? tool
    : Object.keys(rules).find((candidate) => matchesTool(candidate, tool));
  return pattern === undefined ? undefined : rules[pattern];
}
