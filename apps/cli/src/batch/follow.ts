import { setTimeout as sleep } from "node:timers/promises";
import type { Batch, Run } from "@drover/contracts";
import type { Client } from "@drover/queue";
import type { Patiently } from "./patience.js";

/** Milliseconds for which changes are gathered: a batch may change a thousand times a second. */
const GATHER_MS = 100;
const PAGE = 200;

export interface FollowOptions {
  client: Client;
  batchId: string;
  signal: AbortSignal;
  patiently: Patiently;
  /** Runs that ended or were interrupted, in that order. A run may come again when it changed. */
  onRuns: (runs: Run[]) => void;
  onProgress: (batch: Batch) => void;
}

/** Follows a batch from its beginning; remembers how far it came. */
export class Follower {
  private offset = 0;
  private complete = false;
  private poke: () => void = () => {};

  constructor(private readonly options: FollowOptions) {}

  /** Says that all runs were added: only from then on can the batch be idle. */
  allAdded(): void {
    this.complete = true;
    this.poke();
  }

  /** Until nothing of the batch is left to run, or the signal fires. Gives the batch as it is then. */
  async untilIdle(): Promise<Batch> {
    const { client, batchId, signal, patiently, onProgress } = this.options;
    const wake = await patiently(() => client.watchBatch(batchId));
    try {
      for (;;) {
        // In this order: what ends after the batch was read is found by the next round.
        const { complete } = this;
        const batch = await patiently(() => client.batch(batchId));
        await this.passOn();
        onProgress(batch);
        const idle = batch.counts.pending + batch.counts.running === 0;
        if ((complete && idle) || signal.aborted) return batch;
        await sleep(GATHER_MS, undefined, { signal }).catch(() => {});
        if (complete !== this.complete) continue;
        await new Promise<void>((resolve) => {
          this.poke = resolve;
          wake.next(signal).then(() => resolve());
        });
      }
    } finally {
      wake.close();
    }
  }

  private async passOn(): Promise<void> {
    const { client, batchId, patiently, onRuns } = this.options;
    for (;;) {
      const { runs, next } = await patiently(() => client.batchEnded(batchId, this.offset, PAGE));
      if (next === this.offset) return;
      this.offset = next;
      onRuns(runs);
    }
  }
}
