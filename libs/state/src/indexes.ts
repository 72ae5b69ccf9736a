/**
 * What is found across threads: runs by state, what is due on the queue, deadlines, approvals that wait, batches'
 * counters. Derived from transitions: applying one twice, late or out of order ends in the same state.
 */
import { DEAD_LETTER_CODES, isFinal, type RunStatus, type Transition, USAGE_FIELDS } from "@drover/contracts";
import type { Redis } from "./connect.js";
import { decodeId, encodeId, type Keys } from "./keys.js";
import { unknownRun } from "./refusals.js";
import type { Retention } from "./retention.js";
import type { ActivationRef, RunRef } from "./run-store.js";
import { loadScript, runScript } from "./scripts.js";
import type { ThreadRef } from "./transitions.js";

const scripts = {
  apply: loadScript("apply", "shares/common"),
  reserve: loadScript("reserve"),
};

/** More would hold Redis up for others. */
const APPLY_AT_ONCE = 100;

export interface ListOptions {
  tenant: string;
  status?: RunStatus | undefined;
  /** At most this many, newest first. */
  limit: number;
  /** Only runs that were created before this moment, in milliseconds. */
  before?: number | undefined;
}

export class Indexes {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly retention: Retention,
    /** Called once in the whole fleet for each transition, by the process that brought the news. */
    private readonly onNews: (transition: Transition) => void = () => {},
  ) {}

  /** In one script for up to 100 transitions. Gives the activations that were let in: they waited for a share. */
  async apply(transitions: readonly Transition[]): Promise<ActivationRef[]> {
    const granted: ActivationRef[] = [];
    for (let i = 0; i < transitions.length; i += APPLY_AT_ONCE) {
      const page = transitions.slice(i, i + APPLY_AT_ONCE);
      const args = [this.retention.runs, this.retention.batches, JSON.stringify(page.map(applied))];
      const reply = await runScript(this.redis, scripts.apply, [this.keys.index("")], args);
      const [news, ...rest] = reply as [number, ...(number | Buffer)[]];
      for (const place of rest.slice(0, news)) this.onNews(page[Number(place) - 1] as Transition);
      granted.push(...rest.slice(news).map((activation) => activationOf(String(activation))));
    }
    return granted;
  }

  /** Where the run lives. Throws UNKNOWN_RUN, also for a run of another tenant. */
  async locate(runId: string, tenant: string): Promise<RunRef> {
    const member = await this.redis.hget(this.keys.index(`run:${encodeId(runId)}`), "m");
    const ref = member ? refOf(member) : null;
    if (!ref || ref.tenant !== tenant) throw unknownRun(runId);
    return ref;
  }

  /** The newest version of the run that the indexes have seen; 0 for one that they do not know. */
  async version(runId: string): Promise<number> {
    return Number((await this.redis.hget(this.keys.index(`run:${encodeId(runId)}`), "v")) ?? 0);
  }

  async locateApproval(approvalId: string, tenant: string): Promise<RunRef | null> {
    const key = this.keys.index(`approvals:${encodeId(tenant)}:runs`);
    const member = await this.redis.hget(key, approvalId);
    return member ? refOf(member) : null;
  }

  async list({ tenant, status, limit, before }: ListOptions): Promise<string[]> {
    const key = this.keys.index(`runs:${encodeId(tenant)}${status ? `:${status}` : ""}`);
    return this.redis.zrange(
      key,
      before ? `(${before}` : "+inf",
      "-inf",
      "BYSCORE",
      "REV",
      "LIMIT",
      0,
      limit,
    );
  }

  async count(tenant: string, status: RunStatus): Promise<number> {
    return this.redis.zcard(this.keys.index(`runs:${encodeId(tenant)}:${status}`));
  }

  /** Ids of approvals that wait, oldest first. */
  async waitingApprovals(tenant: string, limit: number, offset = 0): Promise<string[]> {
    return this.redis.zrange(
      this.keys.index(`approvals:${encodeId(tenant)}`),
      offset,
      String(offset + limit - 1),
    );
  }

  async countWaitingApprovals(tenant: string): Promise<number> {
    return this.redis.zcard(this.keys.index(`approvals:${encodeId(tenant)}`));
  }

  /**
   * Says where approvals are found, before anything else is known of them: who is told of a question may answer it
   * in the same moment.
   */
  async placeApprovals(run: RunRef, approvalIds: readonly string[]): Promise<void> {
    const places = approvalIds.flatMap((id) => [id, memberOf(run)]);
    if (places.length === 0) return;
    await this.redis.hset(this.keys.index(`approvals:${encodeId(run.tenant)}:runs`), ...places);
  }

  /** Approvals whose time was over at `at`. */
  async expiredApprovals(at: number, limit: number): Promise<{ run: RunRef; approvalId: string }[]> {
    const members = await this.until("approvals-expiring", at, limit);
    return members.map((member) => ({
      run: refOf(member),
      approvalId: member.slice(member.lastIndexOf("/") + 1),
    }));
  }

  async dropExpiring(run: RunRef, approvalId: string): Promise<void> {
    await this.redis.zrem(this.keys.index("approvals-expiring"), `${memberOf(run)}/${approvalId}`);
  }

  /** Activations that could have started before `at` and that nobody took, oldest first. */
  async due(at: number, limit: number): Promise<RunRef[]> {
    const members = await this.until("due", at, limit);
    return members.map(refOf);
  }

  /** Those of the runs whose activation is on the queue and not taken. */
  async areDue<R extends RunRef>(runs: readonly R[]): Promise<R[]> {
    if (runs.length === 0) return [];
    const scores = await this.redis.zmscore(this.keys.index("due"), ...runs.map(memberOf));
    return runs.filter((_, i) => scores[i] !== null);
  }

  /** Notes a run that was delivered before its delay was over, until then. */
  async noteEarly(run: RunRef, until: number): Promise<void> {
    await this.redis.zadd(this.keys.index("early"), until, memberOf(run));
  }

  /** Runs that were delivered too early and whose delay was over before `at`. */
  async early(at: number, limit: number): Promise<RunRef[]> {
    const members = await this.until("early", at, limit);
    return members.map(refOf);
  }

  async dropEarly(run: RunRef): Promise<void> {
    await this.redis.zrem(this.keys.index("early"), memberOf(run));
  }

  async countDue(): Promise<number> {
    return this.redis.zcard(this.keys.index("due"));
  }

  async dropDue(run: RunRef): Promise<void> {
    await this.redis.zrem(this.keys.index("due"), memberOf(run));
  }

  /** Runs whose deadline is before `at`. */
  async overdue(at: number, limit: number): Promise<RunRef[]> {
    const members = await this.until("deadlines", at, limit);
    return members.map(refOf);
  }

  async dropDeadline(run: RunRef): Promise<void> {
    await this.redis.zrem(this.keys.index("deadlines"), memberOf(run));
  }

  /** Binds an idempotency key; gives what it is bound to, by this call or an earlier one. */
  async reserve(tenant: string, key: string, bound: string): Promise<string> {
    const name = this.keys.index(`idempotency:${encodeId(tenant)}:${encodeId(key)}`);
    return String(await runScript(this.redis, scripts.reserve, [name], [bound, this.retention.idempotency]));
  }

  /** Forgets runs whose time is over. Gives how many. */
  async purge(at: number, limit: number): Promise<number> {
    const ids = await this.until("expiring", at, limit);
    await Promise.all(ids.map((id) => this.forget(id)));
    return ids.length;
  }

  /** Takes a run out of every list; its record in its thread goes when its time is over. */
  async forget(runId: string): Promise<void> {
    const record = this.keys.index(`run:${encodeId(runId)}`);
    const fields = await this.redis.hgetall(record);
    if (fields.m && fields.s) {
      const tenant = encodeId(refOf(fields.m).tenant);
      const all = this.keys.index(`runs:${tenant}`);
      const approvals = Object.keys(fields).filter((name) => name.startsWith("a:"));
      await Promise.all([
        this.redis.zrem(all, runId),
        this.forgetState(`${all}:${fields.s}`, fields.s, runId),
        this.redis.zrem(this.keys.index("dead-runs"), runId),
        ...approvals.map((name) =>
          this.redis.hdel(this.keys.index(`approvals:${tenant}:runs`), name.slice(2)),
        ),
      ]);
    }
    await this.redis.del(record);
    await this.redis.zrem(this.keys.index("expiring"), runId);
  }

  /** Two that forget the same run at once count it once. */
  private async forgetState(list: string, status: string, runId: string): Promise<void> {
    if ((await this.redis.zrem(list, runId)) === 1) {
      await this.redis.hincrby(this.keys.index("states"), status, -1);
    }
  }

  /** Redis's own time in milliseconds: what every score is measured by. */
  async now(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  /** Members of an index by time whose time is `at` or earlier, earliest first. */
  private until(name: string, at: number, limit: number): Promise<string[]> {
    return this.redis.zrange(this.keys.index(name), "-inf", String(at), "BYSCORE", "LIMIT", 0, limit);
  }
}

/** One transition, as apply.lua takes it. */
function applied(t: Transition): Record<string, unknown> {
  const isUsed = USAGE_FIELDS.some((f) => t.usage[f]);
  const expiring = t.raised.flatMap((a) => (a.expiresAt ? [[a.approvalId, a.expiresAt] as const] : []));
  return {
    id: t.runId,
    member: memberOf(t),
    tenant: encodeId(t.tenant),
    version: t.version,
    status: t.status,
    final: isFinal(t.status),
    worker: t.worker ?? undefined,
    seq: t.seq,
    batch: t.batchId === null ? undefined : encodeId(t.batchId),
    created: t.createdAt,
    at: t.at,
    usage: isUsed ? USAGE_FIELDS.map((f) => t.usage[f] ?? 0).join(",") : undefined,
    deadline: t.deadlineAt ?? undefined,
    due: t.dispatch ? memberOf(t.dispatch) : undefined,
    keeps: t.status === "pending" && (t.kind === "takeover" || t.kind === "handover") ? true : undefined,
    due_at: t.dispatch ? t.at + t.dispatch.delayMs : undefined,
    dead: t.status === "error" && t.code !== null && DEAD_LETTER_CODES.has(t.code) ? true : undefined,
    raised: t.raised.length > 0 ? t.raised.map((a) => a.approvalId) : undefined,
    expires: expiring.length > 0 ? Object.fromEntries(expiring) : undefined,
    closed: t.closed.length > 0 ? t.closed : undefined,
  };
}

/** A thread's name in the indexes: tenant and thread, encoded. */
export const threadMember = (thread: ThreadRef): string =>
  `${encodeId(thread.tenant)}/${encodeId(thread.threadId)}`;

/** A run's name in the indexes: tenant, thread and run, encoded. */
export const memberOf = (run: RunRef): string => `${threadMember(run)}/${encodeId(run.runId)}`;

/** An activation's name in the indexes: its run's, and its number. */
export const claimOf = (activation: ActivationRef): string => `${memberOf(activation)}/${activation.seq}`;

export function activationOf(claim: string): ActivationRef {
  return { ...refOf(claim), seq: Number(claim.slice(claim.lastIndexOf("/") + 1)) };
}

export function refOf(member: string): RunRef {
  const [tenant = "", threadId = "", runId = ""] = member.split("/").map(decodeId);
  return { tenant, threadId, runId };
}
