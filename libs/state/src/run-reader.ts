import {
  type AcceptedRequest,
  type Approval,
  type ApprovalTerms,
  DroverError,
  type ErrorInfo,
  type InterruptQuestion,
  noUsage,
  type Pointer,
  type Run,
  USAGE_FIELDS,
} from "@drover/contracts";
import type { Redis } from "./connect.js";
import type { Codec } from "./encryption/codec.js";
import { openError, openJson } from "./encryption/sealed.js";
import type { Keys } from "./keys.js";
import { decodePayload } from "./payload.js";
import type { RunRef } from "./run-store.js";
import type { StoredAnswer } from "./stored-answer.js";
import type { ThreadRef } from "./transitions.js";

type Fields = Record<string, Buffer>;

const LISTED = [
  "request",
  "status",
  "agent",
  "agentVersion",
  "endedBy",
  "version",
  "seq",
  "kind",
  "attempt",
  "crashes",
  "batch",
  "priority",
  "error",
  "approvals",
  "createdAt",
  "startedAt",
  "finishedAt",
  "updatedAt",
  "deadlineAt",
  "cancel",
  "worker",
  ...USAGE_FIELDS,
] as const;

/** Reads runs and their approvals. Null for a run that is not kept any more. */
export class RunReader {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly codec: Codec | undefined,
  ) {}

  /** @param withOutput false leaves out the output, for lists */
  async run(ref: RunRef, withOutput = true): Promise<Run | null> {
    const names = withOutput ? [...LISTED, "output"] : [...LISTED];
    const values = await this.redis.hmgetBuffer(this.key(ref), ...names);
    const fields: Fields = {};
    names.forEach((name, i) => {
      const value = values[i];
      if (value) fields[name] = value;
    });
    return fields.status ? toRun(ref, fields, this.codec) : null;
  }

  async input(ref: RunRef): Promise<Pick<AcceptedRequest, "input" | "context"> | null> {
    const bytes = await this.redis.hgetBuffer(this.key(ref), "input");
    return bytes ? (decodePayload(bytes, this.codec) as Pick<AcceptedRequest, "input" | "context">) : null;
  }

  /** The run's newest activation, if it waits on the queue. */
  async pointer(ref: RunRef): Promise<Pointer | null> {
    const [status, seq, delivery] = await this.redis.hmget(this.key(ref), "status", "seq", "delivery");
    return status === "pending" ? { ...ref, seq: Number(seq), delivery: Number(delivery) } : null;
  }

  /** The run that the thread's others wait behind. */
  async current(thread: ThreadRef): Promise<RunRef | null> {
    const keys = this.keys.thread(thread.tenant, thread.threadId);
    const runId = await this.redis.hget(keys.thread, "current");
    return runId ? { ...thread, runId } : null;
  }

  /** The thread's current run, if somebody asked for its end and it has not ended. */
  async askedToStop(thread: ThreadRef): Promise<{ run: RunRef; reason: string } | null> {
    const run = await this.current(thread);
    const cancel = run && (await this.redis.hget(this.key(run), "cancel"));
    return cancel ? { run, reason: (JSON.parse(cancel) as ErrorInfo).message } : null;
  }

  /** Where a run stands in its thread: the run that it waits behind, how many are ahead of it, when its delay is over. */
  async place(ref: RunRef): Promise<{ behind: string | null; ahead: number; delayUntil: number | null }> {
    const keys = this.keys.thread(ref.tenant, ref.threadId);
    const [current, at, delayUntil] = await Promise.all([
      this.redis.hget(keys.thread, "current"),
      this.redis.lpos(keys.lane, ref.runId),
      this.redis.hget(keys.run(ref.runId), "delayUntil"),
    ]);
    const behind = current && current !== ref.runId ? current : null;
    return { behind, ahead: behind ? (at ?? 0) + 1 : 0, delayUntil: delayUntil ? Number(delayUntil) : null };
  }

  /** The approvals of a run, in the order in which they were raised. */
  async approvals(ref: RunRef): Promise<Approval[]> {
    const fields = await this.redis.hgetall(this.key(ref));
    const waiting = (fields.waiting ?? "").split(",");
    return splitIds(fields.approvals).flatMap((approvalId) => {
      const question = fields[`approval:${approvalId}`];
      if (!question) return [];
      const asked = openJson(question, this.codec) as InterruptQuestion;
      const json = fields[`answer:${approvalId}`];
      const stored = json ? (openJson(json, this.codec) as StoredAnswer) : null;
      const passedOn = fields[`terms:${approvalId}`];
      const moment = (what: string) => Number(fields[`${what}:${approvalId}`] ?? 0) || null;
      const approval: Approval = {
        ...ref,
        ...asked,
        ...(passedOn ? { terms: openJson(passedOn, this.codec) as ApprovalTerms } : {}),
        approvalId,
        agent: fields.agent ?? "",
        agentVersion: fields.agentVersion ?? "",
        status: stored ? statusOf(stored) : waiting.includes(approvalId) ? "pending" : "discarded",
        createdAt: moment("asked") ?? 0,
        expiresAt: moment("expires"),
        answeredAt: moment("answeredAt"),
        answer: stored?.answer ?? null,
        audit: stored?.audit ?? null,
      };
      return [approval];
    });
  }

  async approval(ref: RunRef, approvalId: string): Promise<Approval> {
    const found = (await this.approvals(ref)).find((a) => a.approvalId === approvalId);
    if (!found) throw new DroverError("UNKNOWN_APPROVAL", `There is no approval '${approvalId}'.`);
    return found;
  }

  private key(ref: RunRef): string {
    return this.keys.thread(ref.tenant, ref.threadId).run(ref.runId);
  }
}

function toRun(ref: RunRef, f: Fields, codec: Codec | undefined): Run {
  const text = (name: string): string => f[name]?.toString() ?? "";
  const number = (name: string): number => Number(f[name] ?? 0);
  const moment = (name: string): number | null => (f[name] ? Number(f[name]) : null);
  const request = openJson(text("request"), codec) as Omit<AcceptedRequest, "input" | "context">;
  const errorOf = (name: string): ErrorInfo | null =>
    f[name] ? openError(JSON.parse(text(name)) as ErrorInfo, codec) : null;
  const usage = noUsage();
  for (const field of USAGE_FIELDS) usage[field] = number(field);
  return {
    runId: ref.runId,
    tenant: ref.tenant,
    threadId: ref.threadId,
    agent: text("agent"),
    agentVersion: text("agentVersion"),
    status: text("status") as Run["status"],
    endedBy: (text("endedBy") || null) as Run["endedBy"],
    version: number("version"),
    seq: number("seq"),
    kind: text("kind") as Run["kind"],
    attempt: number("attempt"),
    crashes: number("crashes"),
    batchId: text("batch") || null,
    document: request.document ?? null,
    priority: number("priority"),
    tags: request.tags,
    metadata: request.metadata,
    output: f.output ? decodePayload(f.output, codec) : null,
    error: errorOf("error"),
    approvals: splitIds(text("approvals")),
    usage,
    createdAt: number("createdAt"),
    startedAt: moment("startedAt"),
    finishedAt: moment("finishedAt"),
    updatedAt: number("updatedAt"),
    deadlineAt: moment("deadlineAt"),
    cancelReason: errorOf("cancel")?.message ?? null,
    worker: text("worker") || null,
  };
}

const statusOf = ({ audit }: StoredAnswer): Approval["status"] =>
  audit?.door === "expiry" ? "expired" : "answered";

const splitIds = (csv: string | undefined): string[] => (csv ? csv.split(",").filter(Boolean) : []);
