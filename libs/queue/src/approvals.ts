import {
  type Answer,
  type Approval,
  type ApprovalAudit,
  DroverError,
  NO_REDACTION,
  type Redactor,
} from "@drover/contracts";
import { answeredBefore, notAnswerable, type State } from "@drover/state";
import { change } from "./publisher.js";
import type { RunQueue } from "./run-queue.js";
import { versionForAnswer, versionsThere } from "./versions.js";

/** Checks an answer against its question and gives the value that the graph resumes with. Throws where it does not fit. */
export type AnswerReader = (approval: Approval, answer: Answer) => unknown;

/** By whom and how an answer comes. */
export interface Deciding {
  read: AnswerReader;
  audit: ApprovalAudit;
  /** What to take out of an answer before it is written. Default: nothing. */
  redactorOf?: ((agent: string) => Redactor) | undefined;
  /** Whether the answer holds for another version of the agent than the one that asked. Default: refuse. */
  onVersionMismatch?: "refuse" | "resume" | undefined;
}

/** The approvals that wait, oldest first. */
export async function listApprovals(
  state: State,
  tenant: string,
  limit: number,
  offset = 0,
): Promise<Approval[]> {
  const ids = await state.indexes.waitingApprovals(tenant, limit, offset);
  const found = await Promise.all(
    ids.map((id) =>
      getApproval(state, id, tenant).then(
        (approval) => [approval],
        () => [],
      ),
    ),
  );
  return found.flat();
}

export async function getApproval(state: State, approvalId: string, tenant: string): Promise<Approval> {
  const run = await state.indexes.locateApproval(approvalId, tenant);
  if (!run) throw unknownApproval(approvalId);
  return state.reader.approval(run, approvalId);
}

/**
 * Answers an approval: everything is checked before anything is stored, and it is stored once. When none of the run's
 * approvals waits any more, the run goes on. The same message a second time changes nothing and is no error.
 * Throws UNKNOWN_APPROVAL, NOT_PERMITTED, VERSION_MISMATCH, APPROVAL_ANSWERED, APPROVAL_EXPIRED, ILLEGAL_TRANSITION, and
 * what `read` throws.
 */
export async function answerApproval(
  state: State,
  queue: RunQueue,
  approvalId: string,
  tenant: string,
  given: Answer,
  deciding: Deciding,
): Promise<Approval> {
  const [approval, versionsOf] = await Promise.all([
    getApproval(state, approvalId, tenant),
    versionsThere(state),
  ]);
  const { audit } = deciding;
  if (approval.status !== "pending") {
    if (audit.messageId !== null && approval.audit?.messageId === audit.messageId) return approval;
    throw closed(approval);
  }
  assertPermitted(approval, given, audit);
  const version = versionForAnswer(approval, versionsOf, deciding.onVersionMismatch ?? "refuse");
  const answer = (deciding.redactorOf?.(approval.agent) ?? NO_REDACTION).value(given, "approval");
  const value = deciding.read(approval, answer);
  const stored = { interruptId: approval.interruptId, value, answer, audit };
  await change(state, queue, approval, async () => ({
    transition: await state.runs.resume(approval, approvalId, stored, { version }),
  }));
  return state.reader.approval(approval, approvalId);
}

function closed(approval: Approval): DroverError {
  const { approvalId, interruptId, status, answer, audit } = approval;
  if (status === "discarded") return notAnswerable(approvalId, "closed", "over or went on without it");
  return answeredBefore(approvalId, { interruptId, value: null, answer, ...(audit ? { audit } : {}) });
}

/**
 * Whether the sender may answer: anybody where the policy names nobody; else somebody whom it names and for whom a
 * signature or a local operator vouches.
 */
function assertPermitted({ approvalId, terms }: Approval, { decidedBy }: Answer, audit: ApprovalAudit): void {
  const assignees = terms?.assignees;
  if (!assignees) return;
  const isNamed = [decidedBy, audit.service].some((name) => name != null && assignees.includes(name));
  if (audit.verified && isNamed) return;
  const who = assignees.join(", ");
  throw new DroverError(
    "NOT_PERMITTED",
    audit.verified
      ? `Approval ${approvalId} is for ${who}${decidedBy ? `, not for ${decidedBy}` : "; say who decided (decidedBy)"}.`
      : `Approval ${approvalId} is for ${who}, and nobody vouches for the name in an unsigned message. Sign it.`,
  );
}

function unknownApproval(approvalId: string): DroverError {
  return new DroverError(
    "UNKNOWN_APPROVAL",
    `There is no approval '${approvalId}'. \`drover approvals list\` shows those that wait.`,
  );
}
