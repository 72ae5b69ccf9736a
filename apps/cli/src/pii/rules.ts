import { DroverError, parsePiiRules } from "@drover/contracts";
import type { PiiRule } from "@drover/redaction";
import { localAgents } from "../agents.js";
import type { CliConfig } from "../config.js";
import { jsonValue } from "../options.js";

/** The rules that are in force now, by agent. */
export interface CurrentRules {
  /** Of an agent that is not known here, and of nobody: all rules there are. */
  of(agent: string | null): readonly PiiRule[];
}

/**
 * The rules of a file (a JSON array, or a fleet's policy), which then hold for every agent; else those of the project's
 * agents, the fleet's policy included. Throws INVALID_POLICY, and INVALID_CONFIG where there are none.
 */
export async function currentRules(config: CliConfig, file: string | undefined): Promise<CurrentRules> {
  if (file !== undefined) {
    const rules = await rulesIn(file, config.cwd);
    return { of: () => rules };
  }
  const agents = (await localAgents(config))?.list() ?? [];
  const { piiRulesOf } = await import("@drover/runtime");
  const byAgent = new Map(agents.map((agent) => [agent.name, piiRulesOf(agent) as readonly PiiRule[]]));
  const all = withoutTwins([...byAgent.values()].flat());
  if (all.length === 0) {
    throw new DroverError(
      "INVALID_CONFIG",
      "There are no PII rules here: run this in the folder of a project whose agents have some, or name a file with --rules.",
    );
  }
  return { of: (agent) => (agent === null ? all : (byAgent.get(agent) ?? all)) };
}

async function rulesIn(file: string, cwd: string): Promise<readonly PiiRule[]> {
  const data = await jsonValue(`@${file}`, "--rules", cwd);
  const isPolicy = typeof data === "object" && data !== null && !Array.isArray(data);
  const ceilings = isPolicy ? (data as { ceilings?: { pii?: unknown } }).ceilings : undefined;
  return parsePiiRules(isPolicy ? (ceilings?.pii ?? []) : data, { everywhereByDefault: isPolicy });
}

/** Many agents share a rule: a text is looked through for it once. */
function withoutTwins(rules: readonly PiiRule[]): PiiRule[] {
  const known = new Set<string>();
  return rules.filter((rule) => {
    if (typeof rule.detector === "function") return true;
    const detector = rule.detector instanceof RegExp ? String(rule.detector) : rule.detector;
    const twin = JSON.stringify({ ...rule, detector });
    return !known.has(twin) && known.add(twin);
  });
}
