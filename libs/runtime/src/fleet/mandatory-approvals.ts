import { type Ceilings, DEFAULT_DECISIONS, DroverError, matchesTool } from "@drover/contracts";
import { BY_HARSHNESS } from "../policy/approval-rules.js";
import type { EffectivePolicy } from "../policy/policy.js";

type Approvals = EffectivePolicy["approvals"];
type Rule = NonNullable<Approvals[string]>;
type Mandatory = Ceilings["approvals"][string];

/**
 * An agent's approvals with those that the fleet wants: each tool that the fleet's patterns name has a rule of its
 * own, so that no pattern of the agent's goes before it; a tool of run time is caught by the fleet's pattern, which
 * stands first.
 */
export function mandatoryApprovals(
  own: Approvals,
  fleet: Ceilings["approvals"],
  tools: readonly string[],
): Approvals {
  const mandatory = Object.entries(fleet);
  if (mandatory.length === 0) return own;
  const patterns = mandatory
    .filter(([pattern]) => pattern.includes("*"))
    .map(([pattern, rule]) => [pattern, combined(pattern, rule, own[pattern] ?? undefined)] as const);
  const named = tools.flatMap((tool) => {
    const rules = mandatory.filter(([pattern]) => matchesTool(pattern, tool));
    if (rules.length === 0) return [];
    const start = ruleFor(own, tool);
    return [
      [tool, rules.reduce<Rule | undefined>((rule, [, most]) => combined(tool, most, rule), start)] as const,
    ];
  });
  return {
    ...Object.fromEntries([...patterns, ...named]),
    ...without(own, [...patterns, ...named]),
  } as Approvals;
}

const without = (own: Approvals, taken: readonly (readonly [string, unknown])[]) =>
  Object.fromEntries(Object.entries(own).filter(([key]) => !taken.some(([name]) => name === key)));

function ruleFor(own: Approvals, tool: string): Rule | undefined {
  const pattern = Object.hasOwn(own, tool) ? tool : Object.keys(own).find((key) => matchesTool(key, tool));
  return pattern === undefined ? undefined : (own[pattern] ?? undefined);
}

/** Always asked, by the stricter of both: `when` and longer lists and times of the agent's do not count. */
function combined(tool: string, mandatory: Mandatory, own: Rule | undefined): Rule {
  const fleet = mandatory === true ? {} : mandatory;
  const { when: _, ...rest } = own ?? { decisions: [...DEFAULT_DECISIONS], onExpire: "reject" as const };
  const times = [rest.expiresMs, fleet.expiresMs].filter((ms) => ms !== undefined);
  return {
    ...rest,
    description: rest.description ?? fleet.description,
    decisions: common(tool, "decisions", rest.decisions, fleet.decisions) ?? [],
    assignees: common(tool, "assignees", rest.assignees, fleet.assignees),
    expiresMs: times.length > 0 ? Math.min(...times) : undefined,
    onExpire: harsher(rest.onExpire, fleet.onExpire),
  };
}

function common<T>(
  tool: string,
  what: string,
  own: T[] | undefined,
  fleet: T[] | undefined,
): T[] | undefined {
  if (!own || !fleet) return own ?? fleet;
  const both = own.filter((item) => fleet.includes(item));
  if (both.length > 0) return both;
  throw new DroverError(
    "INVALID_POLICY",
    `approvals.${tool}: the agent's ${what} (${own.join(", ")}) and the fleet's (${fleet.join(", ")}) have none in common; change one of them.`,
  );
}

function harsher(own: Rule["onExpire"], fleet: Rule["onExpire"] | undefined): Rule["onExpire"] {
  if (fleet === undefined) return own;
  return BY_HARSHNESS.indexOf(fleet) > BY_HARSHNESS.indexOf(own) ? fleet : own;
}
