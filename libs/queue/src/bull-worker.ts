import { setTimeout as sleep } from "node:timers/promises";
import type { Keys, Redis } from "@drover/state";
import { type ConnectionOptions, type Job, Worker, type WorkerOptions } from "bullmq";

/** Milliseconds that BullMQ has to close its connections once nothing is in hand. */
const CLOSE_MS = 1500;

export interface BullWorkerSettings {
  redis: Redis;
  keys: Keys;
  /** Jobs at once in this process. */
  concurrency: number;
  /** Milliseconds between two looks for jobs whose worker is gone. Default 10,000. */
  stalledInterval?: number;
}

/** What all of Drover's BullMQ workers have in common: a job whose worker died is taken again, however often. */
export function bullWorkerOptions({
  redis,
  keys,
  concurrency,
  stalledInterval = 10_000,
}: BullWorkerSettings): WorkerOptions {
  return {
    connection: redis as unknown as ConnectionOptions,
    prefix: keys.bull,
    concurrency,
    autorun: false,
    lockDuration: 30_000,
    stalledInterval,
    maxStalledCount: 1_000_000,
    drainDelay: 2,
    skipVersionCheck: true,
  };
}

/** For queues whose jobs are worth nothing once they ended. */
export const REMOVE_ENDED = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };

/**
 * A worker of BullMQ that can leave at any time. BullMQ's own close waits for ever where the connection is just being
 * made anew: of one that it does not have, its client never tells the end.
 */
export class BullWorker<T> extends Worker<T> {
  private readonly inHand: ReadonlySet<Promise<unknown>>;

  constructor(
    name: string,
    process: (job: Job<T>, token?: string) => Promise<unknown>,
    options: WorkerOptions,
  ) {
    const inHand = new Set<Promise<unknown>>();
    const tracked = (job: Job<T>, token?: string) => {
      const work = process(job, token).finally(() => inHand.delete(work));
      inHand.add(work);
      return work;
    };
    super(name, tracked, options);
    this.inHand = inHand;
  }

  /** Takes nothing more; resolves when what is in hand has ended. */
  async leave(): Promise<void> {
    await Promise.race([this.close(), this.idle().then(() => sleep(CLOSE_MS))]);
    // One that was being fetched in that moment.
    await this.idle();
  }

  private async idle(): Promise<void> {
    while (this.inHand.size > 0) await Promise.allSettled(this.inHand);
  }
}
