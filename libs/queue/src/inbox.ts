import { setTimeout as sleep } from "node:timers/promises";
import { isStoreFailure } from "@drover/contracts";
import { asDroverError, type Keys, type Redis } from "@drover/state";
import { DelayedError, type Job } from "bullmq";
import { BullWorker, bullWorkerOptions, REMOVE_ENDED } from "./bull-worker.js";
import type { Handled } from "./inbox-handler.js";

/** Any BullMQ client puts messages here, under the prefix `{<DROVER_PREFIX>-bull}`. */
export const INBOX_QUEUE = "inbox";

/** Milliseconds after which a message that needs another worker is taken again, and how often that is tried. */
const PASS_ON_MS = 250;
const MOST_PASSES = 240;
/** Milliseconds between two tries while Redis is away or full. */
const AGAIN_MS = 500;

export interface InboxOptions {
  redis: Redis;
  keys: Keys;
  /** Messages at once in this process. Default 4: each takes milliseconds. */
  concurrency?: number;
  handle: (body: unknown, mayPass: boolean) => Promise<Handled>;
  onError: (error: Error) => void;
}

/**
 * Reads the inbox. A message is removed as soon as it was handled, whatever its sender asked BullMQ to keep: its raw
 * text stands in no record. One whose worker dies is delivered again.
 */
export class Inbox {
  private readonly worker: BullWorker<unknown>;

  constructor({ redis, keys, concurrency = 4, handle, onError }: InboxOptions) {
    this.worker = new BullWorker<unknown>(
      INBOX_QUEUE,
      async (job: Job, token?: string) => {
        job.opts.removeOnComplete = true;
        job.opts.removeOnFail = true;
        const mayPass = job.attemptsStarted < MOST_PASSES;
        if ((await untilHandled(job, mayPass, handle, onError)) === "done") return;
        await job.moveToDelayed(Date.now() + PASS_ON_MS, token);
        throw new DelayedError();
      },
      { ...bullWorkerOptions({ redis, keys, concurrency, stalledInterval: 5000 }), ...REMOVE_ENDED },
    );
    this.worker.on("error", onError);
  }

  start(): void {
    this.worker.run().catch(() => {});
  }

  /** Takes nothing more; resolves when the messages in hand were handled. */
  async stop(): Promise<void> {
    await this.worker.leave();
  }

  async abandon(): Promise<void> {
    await this.worker.close(true);
  }
}

/** Never throws: a job that failed would be removed, and what it asked for with it. */
async function untilHandled(
  job: Job,
  mayPass: boolean,
  handle: InboxOptions["handle"],
  onError: (error: Error) => void,
): Promise<Handled> {
  for (;;) {
    try {
      return await handle(job.data, mayPass);
    } catch (thrown) {
      const error = asDroverError(thrown);
      onError(error as Error);
      if (!isStoreFailure(error)) return "done";
      await sleep(AGAIN_MS);
    }
  }
}
