import { randomUUID } from "node:crypto";
import { type InboxMessage, type Notice, noticeSchema, type SignedMessage } from "@drover/contracts";
import { Queue, Worker } from "bullmq";
import { expect } from "vitest";

/** A service that knows nothing of Drover but docs/messages.md: BullMQ's own client, and nothing else. */
export interface Sender {
  replyTo: string;
  /** Everything that came back, in the order in which it came. */
  notices: Notice[];
  send(message: object): Promise<void>;
  /** The first notice that came, or comes, and that fits. */
  notice(fits: (notice: Notice) => boolean, ms?: number): Promise<Notice>;
  /** Sends a message, under an id of its own unless it has one, and gives what comes back about it. */
  ask<T extends Notice["type"]>(type: T, message: Record<string, unknown>): Promise<Kind<T>>;
  /** Starts a run, and gives the question that it asks. */
  begin(agent: string, input: unknown, over?: Record<string, unknown>): Promise<Kind<"run.interrupted">>;
  close(): Promise<void>;
}

export type Kind<T extends Notice["type"]> = Extract<Notice, { type: T }>;

export type Message = InboxMessage | SignedMessage;

/** Reads the queue `replyTo`, sends to `inbox`. */
export function createSender(redisUrl: string, prefix: string, replyTo = "billing"): Sender {
  const options = {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    prefix: `{${prefix}-bull}`,
  };
  const inbox = new Queue("inbox", options);
  const notices: Notice[] = [];
  const unreadable: object[] = [];
  let wake: () => void = () => {};
  const worker = new Worker<Notice>(
    replyTo,
    async (job) => {
      unreadable.push(...(noticeSchema.safeParse(job.data).error?.issues ?? []));
      notices.push(job.data);
      wake();
    },
    options,
  );
  worker.on("error", () => {});
  inbox.on("error", () => {});
  const sender: Sender = {
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
    async ask(type, message) {
      const id = String(message.id ?? newId());
      await sender.send({ v: 1, replyTo, ...message, id });
      return (await sender.notice(about(id, type))) as Kind<typeof type>;
    },
    begin: (agent, input, over) =>
      sender.ask("run.interrupted", { type: "run.start", request: { agent, input }, ...over }),
    async close() {
      expect(unreadable, "notices that are not as docs/notices.schema.json says").toEqual([]);
      await Promise.all([inbox.close(), worker.close()]);
    },
  };
  return sender;
}

/** Fits a notice of a type about the message of an id. */
export const about = (id: string, type: Notice["type"]) => (notice: Notice) =>
  notice.correlationId === id && notice.type === type;

export const newId = (): string => randomUUID();
