import type { ApprovalTerms, DecisionType, OnExpire } from "@drover/contracts";
import { forTool } from "./for-tool.js";
import type { Describe, EffectivePolicy, WhenPredicate } from "./policy.js";

/** What is asked about a tool's calls. */
export interface ApprovalRule {
  decisions: readonly DecisionType[];
  description: string | Describe | undefined;
  when: WhenPredicate | undefined;
  assignees: readonly string[] | undefined;
  expiresMs: number | undefined;
  onExpire: OnExpire;
  escalateTo: readonly string[] | undefined;
}

/**
 * The part of a policy that is about people and services: who answers questions, for how long they wait, who is told
 * of runs, which messages must be signed.
 */
export type PeoplePolicy = Pick<EffectivePolicy, "approvals" | "questions" | "notify" | "signedMessages">;

export function asksForApproval(policy: EffectivePolicy): boolean {
  return Object.values(policy.approvals).some((rule) => rule !== null);
}

/** The rule for a tool; undefined if nobody is asked. */
export function approvalRuleFor(policy: PeoplePolicy, tool: string): ApprovalRule | undefined {
  const rule = forTool(policy.approvals, tool);
  if (!rule) return undefined;
  const { decisions, description, when, assignees, expiresMs, onExpire, escalateTo } = rule;
  return { decisions, description, when, assignees, expiresMs, onExpire, escalateTo };
}

/** What is worse for an agent comes later. */
export const BY_HARSHNESS: readonly OnExpire[] = ["approve", "reject", "fail"];

/**
 * The terms of one question about calls of these tools: whoever answers is an assignee of each, the shortest time
 * holds, and what becomes of it is the harshest of what their rules say. Undefined where no rule says anything.
 */
export function termsFor(policy: PeoplePolicy, tools: readonly string[]): ApprovalTerms | undefined {
  const rules = tools.flatMap((tool) => approvalRuleFor(policy, tool) ?? []);
  const lists = rules.flatMap(({ assignees }) => (assignees ? [assignees] : []));
  const times = rules.flatMap(({ expiresMs }) => expiresMs ?? []);
  if (lists.length === 0 && times.length === 0) return undefined;
  const expiring = rules.filter((rule) => rule.expiresMs !== undefined);
  const harshest = Math.max(...expiring.map((rule) => BY_HARSHNESS.indexOf(rule.onExpire)));
  const next = inAll(expiring.map(({ escalateTo = [] }) => escalateTo));
  return {
    assignees: lists.length > 0 ? inAll(lists) : null,
    expiresMs: times.length > 0 ? Math.min(...times) : null,
    onExpire: BY_HARSHNESS[harshest] ?? "reject",
    ...(next.length > 0 ? { escalateTo: next } : {}),
  };
}

/** The terms of a question that is not about tools. Undefined where the policy says nothing of such. */
export function termsOfQuestion({ questions }: PeoplePolicy): ApprovalTerms | undefined {
  if (!questions) return undefined;
  const { assignees = null, expiresMs = null, escalateTo, onExpire } = questions;
  return {
    assignees,
    expiresMs,
    onExpire: "fail",
    ...(escalateTo ? { escalateTo } : {}),
    ...(onExpire === "fail" ? {} : { expiryAnswer: onExpire.answer }),
  };
}

function inAll([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return first.filter((name) => others.every((list) => list.includes(name)));
}
