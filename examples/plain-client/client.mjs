/** Starts a run, gets its question, answers it, gets its result: with BullMQ's client and nothing of Drover. */
import { randomUUID } from "node:crypto";
import { Queue, Worker } from "bullmq";

const options = {
  connection: { url: process.env.REDIS_URL ?? "redis://127.0.0.1:6379", maxRetriesPerRequest: null },
  prefix: `{${process.env.DROVER_PREFIX ?? "drover"}-bull}`,
};
const replyTo = "plain-client";
const inbox = new Queue("inbox", options);
const send = (message) => inbox.add(message.type, { v: 1, id: randomUUID(), replyTo, ...message });

const replies = new Worker(
  replyTo,
  async ({ data: notice }) => {
    console.log(notice.type, notice.error?.message ?? notice.runId);
    for (const { approvalId, actions } of notice.approvals ?? []) {
      for (const { description } of actions) console.log(`  asked: ${description}`);
      const decisions = actions.map(() => ({ type: "approve" }));
      await send({ type: "run.resume", approvalId, decisions, decidedBy: "ada" });
    }
    if (notice.type !== "run.final") return;
    console.log(`  ${notice.status}: ${notice.output}`);
    setImmediate(() => Promise.all([replies.close(), inbox.close()]));
  },
  options,
);

const context = { userId: "u-17", company: "PT Contoh", closedUntil: { $date: "2026-08-31" } };
const request = { agent: "accounts-payable", input: "Post INV-1002 on 2026-09-15", context };
await send({ type: "run.start", request });
