import type { Keys, Redis } from "@drover/state";
import type { ConnectionOptions, WorkerOptions } from "bullmq";

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
