/**
 * What others are told of runs. A notice follows from a transition that stands in its thread's outbox, and it is sent
 * before the transition is acknowledged: a crash in between sends it again, under the same id.
 */
import { createHash } from "node:crypto";
import {
  type ErrorInfo,
  isFinal,
  type Notice,
  noUsage,
  type Run,
  type Transition,
  type Webhook,
} from "@drover/contracts";
import type { Codec, Keys, Redis, State } from "@drover/state";
import { type ConnectionOptions, type JobsOptions, Queue } from "bullmq";
import { noticeOfRun } from "./run-notice.js";
import { WEBHOOKS_QUEUE, webhookJob, webhookOptions } from "./webhook-job.js";

/** Reply queues that are kept open at once; the one that was used longest ago is closed for another. */
const OPEN_QUEUES = 50;

/** A reply that was read is remembered for an hour, so that BullMQ itself drops most repetitions. */
const REPLY_OPTIONS: JobsOptions = {
  attempts: 5,
  backoff: { type: "exponential", delay: 1000 },
  removeOnComplete: { age: 3600, count: 10_000 },
  removeOnFail: { age: 7 * 86_400, count: 10_000 },
};

export class Notices {
  private readonly queues = new Map<string, Queue>();

  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** Sends what these transitions mean to those who asked to be told. */
  async send(state: State, transitions: readonly Transition[]): Promise<void> {
    await Promise.all(
      transitions.map(async (t) => {
        if (!t.notify || !isOccasion(t)) return;
        const ids = t.raised.map((a) => a.approvalId);
        const [notice] = await Promise.all([noticeOf(state, t), state.indexes.placeApprovals(t, ids)]);
        const { replyTo, webhook } = t.notify;
        await Promise.all([
          replyTo === undefined ? null : this.reply(state, replyTo, notice),
          webhook === undefined ? null : this.post(webhook, notice, state.codec),
        ]);
      }),
    );
  }

  /** The queue is noted after what it holds: whoever forgets one that is empty sees either. */
  async reply({ replyQueues }: State, queue: string, notice: Notice): Promise<void> {
    await this.queue(queue).add(notice.type, notice, { ...REPLY_OPTIONS, jobId: notice.id });
    await replyQueues.used(queue, notice.at);
  }

  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
    this.queues.clear();
  }

  private async post(webhook: Webhook, notice: Notice, codec: Codec | undefined): Promise<void> {
    const job = webhookJob(webhook, notice, codec);
    await this.queue(WEBHOOKS_QUEUE).add(notice.type, job, { ...webhookOptions, jobId: notice.id });
  }

  /** Only so many stay open: to ask for one may close the one that nobody has asked for for longest. */
  queue(name: string): Queue {
    const known = this.queues.get(name);
    if (known) this.queues.delete(name);
    const queue = known ?? this.create(name);
    this.queues.set(name, queue);
    const [oldest] = this.queues;
    if (this.queues.size > OPEN_QUEUES && oldest) {
      this.queues.delete(oldest[0]);
      oldest[1].close().catch(() => {});
    }
    return queue;
  }

  private create(name: string): Queue {
    const queue = new Queue(name, {
      connection: this.redis as unknown as ConnectionOptions,
      prefix: this.keys.bull,
      streams: { events: { maxLen: 1000 } },
      skipVersionCheck: true,
    });
    queue.on("error", () => {});
    return queue;
  }
}

/** Whether somebody who asked to be told is told of this one: acceptance, a question, the end. */
function isOccasion(t: Transition): boolean {
  if (isFinal(t.status)) return true;
  if (t.status === "interrupted") return t.raised.length > 0;
  return t.status === "pending" && t.seq === 1 && (t.dispatch?.delivery ?? 1) === 1;
}

/** What a transition tells. A run that went on since is told of as it was then, without what it has lost by that. */
async function noticeOf(state: State, t: Transition): Promise<Notice> {
  const { tenant, correlationId = null } = { ...t, ...t.notify };
  const found = await state.reader.run(t);
  const known = { correlationId, behind: t.behind };
  const { status, seq, runId, threadId, agent, endedBy } = t;
  const isSince = found?.status !== status || found.seq !== seq;
  const then = {
    status,
    seq,
    runId,
    threadId,
    agent,
    tenant,
    endedBy,
    updatedAt: t.at,
    createdAt: t.createdAt,
  };
  const usage = { ...noUsage(), ...t.usage };
  const run = { ...found, ...then, usage, ...(isSince ? { output: null, error: errorOf(t) } : {}) } as Run;
  if (isFinal(status)) return noticeOfRun("run.final", run, [], known);
  if (status !== "interrupted") return noticeOfRun("request.admitted", run, [], known);
  const raised = new Set(t.raised.map((a) => a.approvalId));
  const approvals = (await state.reader.approvals(t)).filter((a) => raised.has(a.approvalId));
  return noticeOfRun("run.interrupted", run, approvals, known);
}

/** The id of a refusal: another reason is another notice. */
export function refusedId(messageId: string, { code, message }: ErrorInfo): string {
  const digest = createHash("sha256").update(`${messageId}\n${code}\n${message}`).digest("hex");
  return `refused-${digest.slice(0, 32)}`;
}

function errorOf(t: Transition): ErrorInfo | null {
  return t.code ? { code: t.code, message: "The run went on since; ask for its state." } : null;
}
