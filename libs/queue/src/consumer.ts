import { type Pointer, parseOrThrow, pointerSchema } from "@drover/contracts";
import type { Keys, Redis } from "@drover/state";
import { BullWorker, bullWorkerOptions, REMOVE_ENDED } from "./bull-worker.js";
import { RUNS_QUEUE } from "./run-queue.js";

export interface ConsumerOptions {
  redis: Redis;
  keys: Keys;
  concurrency: number;
  /** Works on one delivery, which could have been taken at `readyAt` by Redis's clock. What it throws is logged by `onError`; the sweeper finds what it left. */
  handle: (pointer: Pointer, readyAt: number) => Promise<void>;
  onError: (error: Error) => void;
}

/**
 * Takes deliveries from the queue. The lock that BullMQ keeps on a job decides nothing here: leases do. A job that
 * BullMQ believes stalled is delivered again, and dropped by the claim if its activation was taken.
 */
export class Consumer {
  private readonly worker: BullWorker<Pointer>;

  constructor({ redis, keys, concurrency, handle, onError }: ConsumerOptions) {
    this.worker = new BullWorker<Pointer>(
      RUNS_QUEUE,
      async (job) => {
        try {
          await handle(
            parseOrThrow(pointerSchema, job.data, "The message"),
            job.timestamp + (job.opts.delay ?? 0),
          );
        } catch (error) {
          onError(error as Error);
        }
      },
      { ...bullWorkerOptions({ redis, keys, concurrency }), ...REMOVE_ENDED },
    );
    this.worker.on("error", onError);
  }

  start(): void {
    this.worker.run().catch(() => {});
  }

  /** Takes nothing until it is open again; what is in hand goes on. */
  shut(isShut: boolean): void {
    (isShut ? this.worker.pause(true) : this.worker.resume()).catch(() => {});
  }

  /** Takes nothing more; resolves when the deliveries in hand have ended. */
  async stop(): Promise<void> {
    await this.worker.leave();
  }

  /** Stops without waiting. What is in hand goes on elsewhere. */
  async abandon(): Promise<void> {
    await this.worker.close(true);
  }

  get isTaking(): boolean {
    return this.worker.isRunning() && !this.worker.isPaused();
  }
}
