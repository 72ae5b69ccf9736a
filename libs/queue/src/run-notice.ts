import type { Approval, AskedApproval, FinalStatus, Notice, NoticeType, Run } from "@drover/contracts";

/** Bytes of JSON up to which an output travels in the notice itself. */
const OUTPUT_IN_NOTICE = 256 * 1024;

interface Known {
  correlationId: string | null;
  /** The run that it waits behind. */
  behind?: string | null;
}

/**
 * A notice about a run as it was read. Its id follows from the run, its activation and what the notice says, so that
 * it is the same whoever sends it and however often.
 */
export function noticeOfRun(
  type: Exclude<NoticeType, "request.refused">,
  run: Run,
  approvals: readonly Approval[],
  { correlationId, behind = null }: Known,
): Notice {
  const { runId, threadId, agent, tenant, seq } = run;
  const head = { v: 1 as const, tenant, correlationId, at: run.updatedAt, runId, threadId, agent };
  switch (type) {
    case "request.admitted":
      return { ...head, at: run.createdAt, id: `${runId}-admitted`, type, request: "run.start", behind };
    case "run.interrupted":
      return { ...head, id: `${runId}-${seq}-${askedOf(approvals)}`, type, approvals: approvals.map(asked) };
    case "run.final": {
      const outputOmitted = Buffer.byteLength(JSON.stringify(run.output) ?? "") > OUTPUT_IN_NOTICE;
      const { endedBy, error, usage } = run;
      const status = run.status as FinalStatus;
      const output = outputOmitted ? null : run.output;
      return {
        ...head,
        id: `${runId}-${seq}-${status}`,
        type,
        status,
        endedBy,
        error,
        output,
        outputOmitted,
        usage,
      };
    }
  }
}

/** What was passed on to others is asked again: another notice. */
function askedOf(approvals: readonly Approval[]): string {
  const escalated = approvals.filter(({ terms }) => terms?.isEscalated).map(({ approvalId }) => approvalId);
  return ["interrupted", ...escalated].join("-");
}

function asked({ approvalId, interruptId, actions, value, expiresAt, terms }: Approval): AskedApproval {
  return { approvalId, interruptId, actions, value, expiresAt, assignees: terms?.assignees ?? null };
}
