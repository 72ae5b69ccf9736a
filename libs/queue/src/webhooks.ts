import { DroverError, type Notice } from "@drover/contracts";
import type { Codec, Keys, Redis } from "@drover/state";
import { type ConnectionOptions, type Job, Queue } from "bullmq";
import { BullWorker, bullWorkerOptions } from "./bull-worker.js";
import { noticeIn, WEBHOOKS_QUEUE, type WebhookJob } from "./webhook-job.js";
import { postWebhook, type WebhookSettings } from "./webhook-request.js";

export interface WebhooksOptions extends WebhookSettings {
  redis: Redis;
  names: Keys;
  codec: Codec | undefined;
  /** Requests at once in this process. Default 10. */
  concurrency?: number;
  onDelivered: (ok: boolean) => void;
  onError: (error: Error) => void;
}

/** Posts what the queue `webhooks` holds, again and again until it is taken or its tries are spent. */
export class Webhooks {
  private readonly worker: BullWorker<WebhookJob>;

  constructor({ redis, names, codec, concurrency = 10, onDelivered, onError, ...settings }: WebhooksOptions) {
    this.worker = new BullWorker<WebhookJob>(
      WEBHOOKS_QUEUE,
      async (job) => {
        await postWebhook(job.data, noticeIn(job.data, codec), settings);
      },
      bullWorkerOptions({ redis, keys: names, concurrency }),
    );
    this.worker.on("error", onError);
    this.worker.on("completed", () => onDelivered(true));
    this.worker.on("failed", () => onDelivered(false));
  }

  start(): void {
    this.worker.run().catch(() => {});
  }

  async stop(): Promise<void> {
    await this.worker.leave();
  }
}

/** A notice that could not be posted. */
export interface FailedWebhook {
  id: string;
  tenant: string;
  url: string;
  type: Notice["type"];
  runId: string | null;
  /** Why the last try failed. */
  reason: string;
  attempts: number;
  /** Milliseconds since 1970: when it was given up. */
  failedAt: number;
}

/** What could not be posted, of one tenant: kept for a week. */
export class FailedWebhooks {
  private opened: Queue<WebhookJob> | null = null;

  constructor(
    private readonly redis: Redis,
    private readonly names: Keys,
    private readonly tenant: string,
  ) {}

  /** Newest first. */
  async list(limit = 20): Promise<FailedWebhook[]> {
    const found: FailedWebhook[] = [];
    for (let from = 0; found.length < limit; from += limit) {
      const page = await this.queue.getFailed(from, from + limit - 1);
      found.push(...page.filter((job) => job.data.about.tenant === this.tenant).map(failed));
      if (page.length < limit) break;
    }
    return found.slice(0, limit);
  }

  /** Posts one again, with all its tries. Throws INVALID_INPUT where none of this id failed. */
  async replay(id: string): Promise<void> {
    const job = await this.queue.getJob(id);
    if (!job || job.data.about.tenant !== this.tenant || !(await job.isFailed())) {
      throw new DroverError("INVALID_INPUT", `No webhook '${id}' failed; list those that did.`);
    }
    await job.retry("failed", { resetAttemptsMade: true });
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }

  /** Most clients never ask. */
  private get queue(): Queue<WebhookJob> {
    if (this.opened) return this.opened;
    const queue = new Queue<WebhookJob>(WEBHOOKS_QUEUE, {
      connection: this.redis as unknown as ConnectionOptions,
      prefix: this.names.bull,
      skipVersionCheck: true,
    });
    queue.on("error", () => {});
    this.opened = queue;
    return queue;
  }
}

function failed({ data, failedReason, attemptsMade, finishedOn }: Job<WebhookJob>): FailedWebhook {
  return {
    ...data.about,
    url: data.url,
    reason: failedReason,
    attempts: attemptsMade,
    failedAt: finishedOn ?? 0,
  };
}
