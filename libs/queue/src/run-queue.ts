/**
 * BullMQ's queue of pointers, and nothing else of BullMQ. A job is one delivery of one activation: its id follows
 * from (run, seq, delivery), and it is removed when it ends, so that nothing about a run is only known here.
 */
import { type Dispatch, type Pointer, pointerSchema } from "@drover/contracts";
import type { Keys, Redis } from "@drover/state";
import { type BulkJobOptions, type ConnectionOptions, Queue } from "bullmq";
import { Notices } from "./notices.js";

export const RUNS_QUEUE = "runs";

/** How many jobs in hand are looked at in one go. */
const MOST_FETCHED = 2000;

export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
}

export class RunQueue {
  /** Those who asked to be told are told from here: it goes with the same connection. */
  readonly notices: Notices;
  private readonly queue: Queue<Pointer>;

  constructor(redis: Redis, keys: Keys) {
    this.notices = new Notices(redis, keys);
    this.queue = new Queue<Pointer>(RUNS_QUEUE, {
      connection: redis as unknown as ConnectionOptions,
      prefix: keys.bull,
      streams: { events: { maxLen: 100 } },
      skipVersionCheck: true,
    });
    this.queue.on("error", () => {});
  }

  async add(dispatches: readonly Dispatch[]): Promise<void> {
    if (dispatches.length === 0) return;
    await this.queue.addBulk(
      dispatches.map((d) => ({ name: "run", data: pointerOf(d), opts: optionsOf(d) })),
    );
  }

  async has(pointer: Pointer): Promise<boolean> {
    return (await this.queue.getJob(jobId(pointer))) !== undefined;
  }

  /** Pointers that a worker took from the queue and has not ended. */
  async fetched(): Promise<Pointer[]> {
    const jobs = await this.queue.getActive(0, MOST_FETCHED);
    return jobs.flatMap((job) => {
      const pointer = pointerSchema.safeParse(job?.data);
      return pointer.success ? [pointer.data] : [];
    });
  }

  async counts(): Promise<QueueCounts> {
    const n = await this.queue.getJobCounts("wait", "prioritized", "active", "delayed");
    return {
      waiting: (n.wait ?? 0) + (n.prioritized ?? 0),
      active: n.active ?? 0,
      delayed: n.delayed ?? 0,
    };
  }

  /** No worker takes anything until `resume`; what runs goes on. */
  async pause(): Promise<void> {
    await this.queue.pause();
  }

  async resume(): Promise<void> {
    await this.queue.resume();
  }

  async isPaused(): Promise<boolean> {
    return this.queue.isPaused();
  }

  async close(): Promise<void> {
    await Promise.all([this.queue.close(), this.notices.close()]);
  }
}

export const jobId = (p: Pointer): string => `${p.runId}-${p.seq}-${p.delivery}`;

function pointerOf({ tenant, threadId, runId, seq, delivery }: Dispatch): Pointer {
  return { tenant, threadId, runId, seq, delivery };
}

function optionsOf(d: Dispatch): BulkJobOptions {
  return {
    jobId: jobId(d),
    removeOnComplete: true,
    removeOnFail: true,
    ...(d.delayMs > 0 ? { delay: d.delayMs } : {}),
    ...(d.from === undefined ? {} : { timestamp: d.from }),
    ...(d.priority > 0 ? { priority: d.priority } : {}),
  };
}
