import { randomUUID } from "node:crypto";
import type { InboxMessage, Notice, SignedMessage } from "@drover/contracts";
import { Queue, Worker } from "bullmq";

/** A service that knows nothing of Drover but docs/messages.md: BullMQ's own client, and nothing else. */
export interface Sender {
  replyTo: string;
  /** Everything that came back, in the order in which it came. */
  notices: Notice[];
  send(message: object): Promise<void>;
  /** The first notice that came, or comes, and that fits. */
  notice(fits: (notice: Notice) => boolean, ms?: number): Promise<Notice>;
  close(): Promise<void>;
}

export type Message = InboxMessage | SignedMessage;

/** Reads the queue `replyTo`, sends to `inbox`. */
export function createSender(redisUrl: string, prefix: string, replyTo = "billing"): Sender {
  const options = {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    prefix: `{${prefix}-bull}`,
  };
  const inbox = new Queue("inbox", options);
  const notices: Notice[] = [];
  let wake: () => void = () => {};
  const worker = new Worker<Notice>(
    replyTo,
    async (job) => {
      notices.push(job.data);
      wake();
    },
    options,
  );
  worker.on("error", () => {});
  inbox.on("error", () => {});
  return {
    replyTo,
    notices,
    send: async (message) => {
      await inbox.add("message", message);
    },
    async notice(fits, ms = 20_000) {
      const end = Date.now() + ms;
      for (;;) {
        const found = notices.find(fits);
        if (found) return found;
        if (Date.now() > end) throw new Error(`no such notice; there were ${JSON.stringify(notices)}`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, 100);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
    async close() {
      await Promise.all([inbox.close(), worker.close()]);
    },
  };
}

export const newId = (): string => randomUUID();
