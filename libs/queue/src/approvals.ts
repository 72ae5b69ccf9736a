import { type Answer, type Approval, DroverError } from "@drover/contracts";
import type { State } from "@drover/state";
import { change } from "./publisher.js";
import type { RunQueue } from "./run-queue.js";

/** Checks an answer against its question and gives the value that the graph resumes with. Throws INVALID_DECISION. */
export type AnswerReader = (approval: Approval, answer: Answer) => unknown;

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
 * Answers an approval: validated before anything is stored, stored once. When none of the run's approvals waits
 * any more, the run goes on. Throws UNKNOWN_APPROVAL, INVALID_DECISION, APPROVAL_ANSWERED, ILLEGAL_TRANSITION.
 */
export async function answerApproval(
  state: State,
  queue: RunQueue,
  approvalId: string,
  tenant: string,
  answer: Answer,
  read: AnswerReader,
): Promise<Approval> {
  const approval = await getApproval(state, approvalId, tenant);
  if (approval.status === "answered") {
    const by = approval.answer?.decidedBy;
    throw new DroverError(
      "APPROVAL_ANSWERED",
      `Approval ${approvalId} was answered before${by ? ` by ${by}` : ""}.`,
    );
  }
  const value = read(approval, answer);
  const at = await state.indexes.now();
  const stored = { interruptId: approval.interruptId, value, answer, at };
  await change(state, queue, approval, async () => ({
    transition: await state.runs.resume(approval, approvalId, stored),
  }));
  return { ...approval, status: "answered", answer, answeredAt: at };
}

function unknownApproval(approvalId: string): DroverError {
  return new DroverError(
    "UNKNOWN_APPROVAL",
    `There is no approval '${approvalId}'. \`drover approvals list\` shows those that wait.`,
  );
}
