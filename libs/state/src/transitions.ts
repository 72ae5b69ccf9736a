import type { Dispatch, Notify, Transition, Usage } from "@drover/contracts";

/** A thread and the names it goes by in the scripts' replies. */
export interface ThreadRef {
  tenant: string;
  threadId: string;
}

/** What a script wrote into the outbox: a transition without what the caller knows anyway. */
interface Written {
  runId: string;
  version: number;
  seq: number;
  status: Transition["status"];
  agent: string;
  kind: Transition["kind"];
  batchId?: string;
  at: number;
  createdAt: number;
  deadlineAt?: number;
  worker?: string;
  endedBy?: Transition["endedBy"];
  code?: Transition["code"];
  usage?: Partial<Usage>;
  raised?: Transition["raised"];
  closed?: string[];
  dispatch?: Omit<Dispatch, "tenant" | "threadId">;
  /** JSON: what scripts only carry, they do not read. */
  notify?: string;
  behind?: string;
}

export function parseTransition(thread: ThreadRef, json: Buffer | number | null | undefined): Transition {
  const w = JSON.parse(String(json)) as Written;
  return {
    tenant: thread.tenant,
    threadId: thread.threadId,
    runId: w.runId,
    version: w.version,
    seq: w.seq,
    status: w.status,
    agent: w.agent,
    kind: w.kind,
    batchId: w.batchId ?? null,
    at: w.at,
    createdAt: w.createdAt,
    deadlineAt: w.deadlineAt ?? null,
    worker: w.worker ?? null,
    endedBy: w.endedBy ?? null,
    code: w.code ?? null,
    usage: w.usage ?? {},
    raised: w.raised ?? [],
    closed: w.closed ?? [],
    dispatch: w.dispatch ? { ...w.dispatch, tenant: thread.tenant, threadId: thread.threadId } : null,
    notify: w.notify ? (JSON.parse(w.notify) as Notify) : null,
    behind: w.behind ?? null,
  };
}

/** What an outbox held, in the order of each run's own versions. */
export function parseTransitions(
  thread: ThreadRef,
  entries: readonly (Buffer | number | null)[],
): Transition[] {
  return entries.map((json) => parseTransition(thread, json)).sort((a, b) => a.version - b.version);
}

/** The field of the outbox that holds the transition. */
export const outboxField = (t: Transition): string => `${t.runId}:${t.version}`;
