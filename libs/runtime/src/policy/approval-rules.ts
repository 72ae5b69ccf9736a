import { type DecisionType, matchesTool } from "@drover/contracts";
import type { Describe, EffectivePolicy, WhenPredicate } from "./policy.js";

/** What is asked about a tool's calls. */
export interface ApprovalRule {
  decisions: readonly DecisionType[];
  description: string | Describe | undefined;
  when: WhenPredicate | undefined;
}

export function asksForApproval(policy: EffectivePolicy): boolean {
  return Object.values(policy.approvals).some((rule) => rule !== null);
}

/** The rule for a tool: its own name's before a pattern's, patterns in their order; undefined if nobody is asked. */
export function approvalRuleFor(policy: EffectivePolicy, tool: string): ApprovalRule | undefined {
  const pattern = Object.hasOwn(policy.approvals, tool)
    ? tool
    : Object.keys(policy.approvals).find((candidate) => matchesTool(candidate, tool));
  const rule = pattern === undefined ? undefined : policy.approvals[pattern];
  return rule ? { decisions: rule.decisions, description: rule.description, when: rule.when } : undefined;
}
