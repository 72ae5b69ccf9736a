import type { Keys, Redis } from "@drover/state";
import { type ConnectionOptions, Queue } from "bullmq";
import { INBOX_QUEUE } from "./inbox.js";
import { WEBHOOKS_QUEUE } from "./webhook-job.js";

/** How long the queues beside that of runs are. */
export interface Depths {
  /** Messages that nobody has read yet. */
  inbox: number;
  /** Webhooks that wait for their first or next try. */
  webhooks: number;
  /** Webhooks that were given up and are kept for `drover webhooks replay`. */
  webhooksGivenUp: number;
}

/** Reads them at the same cost however long they are. */
export class QueueDepths {
  private readonly inbox: Queue;
  private readonly webhooks: Queue;

  constructor(redis: Redis, keys: Keys) {
    const open = (name: string) => {
      const connection = redis as unknown as ConnectionOptions;
      const queue = new Queue(name, { connection, prefix: keys.bull, skipVersionCheck: true });
      queue.on("error", () => {});
      return queue;
    };
    this.inbox = open(INBOX_QUEUE);
    this.webhooks = open(WEBHOOKS_QUEUE);
  }

  async read(): Promise<Depths> {
    const [inbox, webhooks] = await Promise.all([
      this.inbox.getJobCounts("wait", "prioritized", "delayed"),
      this.webhooks.getJobCounts("wait", "prioritized", "delayed", "failed"),
    ]);
    const waiting = (n: Record<string, number>) => (n.wait ?? 0) + (n.prioritized ?? 0) + (n.delayed ?? 0);
    return { inbox: waiting(inbox), webhooks: waiting(webhooks), webhooksGivenUp: webhooks.failed ?? 0 };
  }

  async close(): Promise<void> {
    await Promise.all([this.inbox.close(), this.webhooks.close()]);
  }
}
