import {
  type Answer,
  type Approval,
  type ApprovalAudit,
  type ApprovalTerms,
  type Decision,
  type ErrorCode,
  type ErrorInfo,
  isDroverError,
} from "@drover/contracts";
import { escalate, type RunRef, type State } from "@drover/state";
import type { AnswerReader } from "./approvals.js";
import { change } from "./publisher.js";
import type { RunQueue } from "./run-queue.js";
import { titleOf } from "./settle.js";

const AUDIT: ApprovalAudit = { door: "expiry", service: null, verified: true, messageId: null };

const REJECTED: Decision = {
  type: "reject",
  message:
    "Nobody decided in time, so the call was refused. Do not repeat it; go on without it, or say that it waits for a decision.",
};

/** What says that there is nothing to do any more. */
const OVER: ReadonlySet<ErrorCode> = new Set([
  "UNKNOWN_APPROVAL",
  "APPROVAL_ANSWERED",
  "APPROVAL_EXPIRED",
  "ILLEGAL_TRANSITION",
]);

/** Told of each approval whose time was over: its agent, and what the policy did. */
export type ExpiryListener = (
  agent: string,
  action: "approve" | "reject" | "answer" | "fail" | "escalate",
) => void;

/** Does what policies say about approvals whose time is over at `now`. Gives how many it closed. */
export async function expireApprovals(
  state: State,
  queue: RunQueue,
  read: AnswerReader,
  { now, limit, onExpired }: { now: number; limit: number; onExpired: ExpiryListener },
): Promise<number> {
  const due = await state.indexes.expiredApprovals(now, limit);
  const closed = await Promise.all(
    due.map((d) => expire(state, queue, read, d.run, d.approvalId, onExpired)),
  );
  return closed.filter(Boolean).length;
}

/** Goes through the same script as an answer: whichever is there first is the only one. */
async function expire(
  state: State,
  queue: RunQueue,
  read: AnswerReader,
  run: RunRef,
  approvalId: string,
  onExpired: ExpiryListener,
): Promise<boolean> {
  try {
    const approval = await state.reader.approval(run, approvalId);
    if (approval.terms?.escalateTo) {
      const isPassedOn = await passOn(state, queue, approval, approval.terms);
      if (isPassedOn) onExpired(approval.agent, "escalate");
      return isPassedOn;
    }
    const answer = automatic(approval);
    const error = answer ? undefined : tooLate(approvalId);
    const value = answer ? read(approval, answer) : null;
    const stored = { interruptId: approval.interruptId, value, answer, audit: AUDIT };
    await change(state, queue, run, async () => ({
      transition: await state.runs.resume(run, approvalId, stored, { isExpiry: true, error }),
    }));
    onExpired(approval.agent, actionOf(answer));
    return true;
  } catch (cause) {
    if (!isDroverError(cause) || !OVER.has(cause.code)) throw cause;
    // Somebody answered, or the run is over: the index did not know it yet.
    await state.indexes.dropExpiring(run, approvalId);
    return false;
  }
}

/** Asks the next reviewers, for as long again. */
async function passOn(
  state: State,
  queue: RunQueue,
  approval: Approval,
  terms: ApprovalTerms,
): Promise<boolean> {
  const { escalateTo: assignees = null, ...same } = terms;
  const next: ApprovalTerms = { ...same, assignees, isEscalated: true };
  const { approvalId } = approval;
  const { transition } = await change(state, queue, approval, async () => ({
    transition: await escalate(state, approval, {
      approvalId,
      title: titleOf(approval),
      terms: next,
    }),
  }));
  return transition !== null;
}

function actionOf(answer: Answer | null): "approve" | "reject" | "answer" | "fail" {
  if (answer === null) return "fail";
  if ("value" in answer) return "answer";
  return answer.decisions.every(({ type }) => type === "approve") ? "approve" : "reject";
}

/** The answer that a policy gives in a reviewer's place; null where the run is to fail. */
function automatic({ actions, terms }: Approval): Answer | null {
  if (!actions) return terms && "expiryAnswer" in terms ? { value: terms.expiryAnswer } : null;
  const type = terms?.onExpire;
  if (type !== "reject" && type !== "approve") return null;
  if (!actions.every((action) => action.allowedDecisions.includes(type))) return null;
  return { decisions: actions.map(() => (type === "reject" ? REJECTED : { type })) };
}

const tooLate = (approvalId: string): ErrorInfo => ({
  code: "APPROVAL_EXPIRED",
  message: `Nobody answered approval ${approvalId} in time. Retry the run to ask again.`,
});
