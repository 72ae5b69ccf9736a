import type { Approval } from "@drover/contracts";
import type { Cli } from "../cli.js";
import { ago, moment } from "../output/format.js";
import type { Output } from "../output/output.js";
import { brief, oneLine } from "../output/text.js";

/** A question in one line. */
export function questionOf({ actions, value }: Approval): string {
  return actions
    ? actions.map((a) => a.description || `${a.name} ${brief(a.args)}`).join("; ")
    : brief(value);
}

export function tableOf(out: Output, approvals: readonly Approval[]): void {
  out.table(
    [
      { head: "Approval", least: 24 },
      { head: "Agent" },
      { head: "Question" },
      { head: "For" },
      { head: "Since", least: 12 },
      { head: "Expires", least: 8 },
    ],
    approvals.map((approval) => [
      approval.approvalId,
      approval.agent,
      questionOf(approval),
      approval.terms?.assignees?.join(", ") ?? "",
      ago(approval.createdAt),
      moment(approval.expiresAt),
    ]),
  );
}

/** A question with everything that it is about, and what became of it. */
export function showApproval({ out, config }: Cli, approval: Approval): void {
  const { approvalId, audit, answer, terms, status } = approval;
  out.fields([
    ["approval", approvalId],
    ["status", status],
    ["agent", `${approval.agent}, version ${approval.agentVersion}`],
    ["run", approval.runId],
    ["thread", oneLine(approval.threadId)],
    ["asked", `${moment(approval.createdAt)} (${ago(approval.createdAt)})`],
    ["for", terms?.assignees && oneLine(terms.assignees.join(", "))],
    [
      "expires",
      approval.expiresAt === null ? null : `${moment(approval.expiresAt)}, then: ${terms?.onExpire}`,
    ],
    ["answered", moment(approval.answeredAt)],
    ["by", answer?.decidedBy && oneLine(answer.decidedBy)],
    ["through", audit && doorOf(audit)],
    ["comment", answer?.comment && oneLine(answer.comment)],
    ["answer", answer && brief("decisions" in answer ? answer.decisions : answer.value)],
  ]);
  for (const action of approval.actions ?? []) {
    out.line();
    out.line(out.colours.bold(oneLine(action.description || action.name)));
    out.fields([
      ["tool", action.name],
      ...Object.entries(action.args).map(([name, value]): [string, string] => [`  ${name}`, brief(value)]),
      ["allowed", action.allowedDecisions.join(", ")],
    ]);
  }
  if (!approval.actions) out.line(`\n${JSON.stringify(approval.value, null, 2)}`);
  if (status === "pending") {
    out.line(`\nAnswer it: ${config.invocation} approvals ${allowedFor(approval).join("|")} ${approvalId}`);
  }
}

function doorOf({ door, service, verified }: NonNullable<Approval["audit"]>): string {
  if (door === "expiry") return "the end of its time";
  if (service !== null) return `${door}, signed by ${service}`;
  return verified ? door : `${door}, not signed: the name is a claim`;
}

function allowedFor({ actions }: Approval): string[] {
  return actions ? [...new Set(actions.flatMap((action) => action.allowedDecisions))] : ["respond"];
}
