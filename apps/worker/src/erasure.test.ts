import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { RedisStore } from "@drover/state/memory";
import { afterAll, beforeAll, expect, it } from "vitest";
import { everythingIn } from "./testing/everything.js";
import { createFleet, type Fleet } from "./testing/processes.js";

const project = fileURLToPath(new URL("../testing/secrets/", import.meta.url));
const WAIT = { timeoutMs: 60_000 };

let server: RedisServer;
let fleet: Fleet;
let client: Client;

beforeAll(async () => {
  server = await startRedis();
  fleet = createFleet(server.url, "x", project);
  await fleet.start();
  client = new Client({ redisUrl: server.url, prefix: "x", readAnswer: (_, answer) => answer });
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await server.stop();
});

/** Two runs on a thread, with an approval, memory, events, a failure, a batch, a webhook, a dead letter. Gives all ids. */
async function live(threadId: string, text: string, customer: string): Promise<string[]> {
  const batch = await client.openBatch({ agent: "keeper" });
  const first = await client.enqueueRun({
    agent: "keeper",
    threadId,
    batchId: batch.batchId,
    idempotencyKey: `key of ${text}`,
    document: text,
    input: JSON.stringify({ pay: text, remember: text, say: text }),
    context: { text },
    metadata: { customer },
    streamMode: ["updates", "messages", "custom"],
    webhook: { url: "http://127.0.0.1:9/", key: "none" },
  });
  const asked = await first.result(WAIT);
  await client.decide(asked.approvals[0] ?? "", { decisions: [{ type: "approve" }], comment: text });
  await first.result({ ...WAIT, stopAtInterrupt: false });
  const failed = await client.enqueueRun({
    agent: "failing",
    threadId,
    input: { why: text },
    maxAttempts: 1,
  });
  await failed.result(WAIT);
  const late = await client.enqueueRun({ agent: "keeper", threadId, input: text, delayMs: 3_600_000 });
  await late.cancel(text);
  const { redis, keys, deadLetters } = client.state;
  const store = new RedisStore({ redis, keys, tenant: "default" });
  await store.put(["threads", threadId, "facts"], "one", { text });
  await store.put(["notes"], threadId, { text });
  const letter = JSON.stringify({ type: "run.start", request: { threadId, input: text } });
  await deadLetters.add("default", { code: "INVALID_MESSAGE", message: "no" }, letter, 1);
  return [threadId, first.runId, failed.runId, late.runId, ...asked.approvals];
}

it("erases a thread and nothing else: no key and no value names it any more", {
  timeout: 120_000,
}, async () => {
  const texts = { gone: "planted-gone-8Zq", kept: "planted-kept-8Zq", subject: "planted-subject-8Zq" };
  const gone = await live("thread-gone", texts.gone, "4711");
  const kept = await live("thread-gone-not", texts.kept, "4712");
  const others = await live("somebody's thread", texts.subject, "4713");
  const redis = client.state.redis;
  const before = await everythingIn(redis);
  const traces = (all: string, ids: readonly string[]) =>
    ids.filter((id) => all.includes(JSON.stringify(id).slice(1, -1)));
  expect(traces(before, [...gone, texts.gone])).toEqual([...gone, texts.gone]);
  const memberOfGone = "/thread-gone/";
  expect(before).toContain(memberOfGone);

  const erased = await client.records.eraseThread("thread-gone");
  expect(erased).toMatchObject({ threads: 1, runs: 3, memoryItems: 2, deadLetters: 1 });
  const after = await everythingIn(redis);
  // The other thread's id begins with the same letters.
  expect(traces(after.replaceAll("thread-gone-not", "the other"), [...gone, texts.gone])).toEqual([]);
  expect(traces(after, [...kept, texts.kept])).toEqual([...kept, texts.kept]);
  expect((await client.listRuns()).map(({ threadId }) => threadId)).not.toContain("thread-gone");

  // The thread has outlived its runs.
  for (const runId of others.slice(1, 4)) await client.state.indexes.forget(runId);
  await client.records.eraseSubject({ key: "customer", value: "4713" });
  const last = await everythingIn(redis);
  // Memory of all threads holds what the last run of all has put there: nothing says whose it is.
  expect(
    await new RedisStore({ redis, keys: client.state.keys, tenant: "default" }).get(["notes"], "last"),
  ).toMatchObject({
    value: { text: texts.subject },
  });
  expect(traces(last, others)).toEqual([]);
  expect(last.split(texts.subject)).toHaveLength(2);
  expect(traces(last, [...kept, texts.kept])).toEqual([...kept, texts.kept]);
  expect((await client.run(kept[1] ?? "")).runId).toBe(kept[1]);

  // The name is free again, and a thread that is in use stays.
  const again = await client.enqueueRun({
    agent: "keeper",
    threadId: "thread-gone",
    input: "x",
    delayMs: 60_000,
  });
  await expect(client.records.eraseThread("thread-gone")).rejects.toThrow(/is not over; cancel it/);
  expect((await again.status()).status).toBe("pending");
});
