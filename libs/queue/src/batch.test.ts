import { noUsage, type Outcome } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "./client.js";
import { completed, scriptedWorker, until } from "./testing/fleet.js";

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describe("a batch", () => {
  it("counts its runs while they are added and ends when the last one does", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "b1" });
    const worker = await scriptedWorker(client, server.url, {
      act: (_, input): Outcome =>
        input === "bad"
          ? {
              kind: "failed",
              error: { code: "AGENT_ERROR", message: "no" },
              retryable: false,
              endedBy: "error",
              usage: noUsage(),
            }
          : {
              kind: "completed",
              output: input,
              endedBy: "completed",
              usage: { ...noUsage(), inputTokens: 10 },
            },
    });
    const { batchId } = await client.openBatch({ agent: "clerk", metadata: { source: "test" } });
    const add = (inputs: string[]) =>
      client.enqueueMany(
        inputs.map((input, i) => ({ agent: "clerk", input, batchId, document: `${input}${i}` })),
      );
    await add(["a", "b", "bad"]);
    await until(async () => (await client.batch(batchId)).counts.success === 2, "two succeeded");
    expect((await client.batch(batchId)).finishedAt).toBeNull();
    await add(["c", "d"]);
    await client.sealBatch(batchId);
    await until(async () => (await client.batch(batchId)).finishedAt !== null, "the batch ended");
    const batch = await client.batch(batchId);
    expect(batch).toMatchObject({
      total: 5,
      sealed: true,
      counts: { success: 4, error: 1, pending: 0, running: 0 },
    });
    expect(batch.usage.inputTokens).toBe(40);
    expect((await client.batchRuns(batchId, 0, 100)).map((run) => run.document)).toHaveLength(5);
    const { runs, next } = await client.batchEnded(batchId, 0);
    expect(new Set(runs.map((run) => run.runId)).size).toBe(5);
    expect(next).toBe(5);

    expect(await client.retryBatch(batchId)).toBe(1);
    await until(async () => (await client.batch(batchId)).counts.error === 1, "the failed run failed again");
    await worker.stop();
    await client.close();
  });

  it("is paused without an attempt, goes on, and is cancelled as a whole", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "b2" });
    const { batchId } = await client.openBatch({ agent: "clerk" });
    const handles = await client.enqueueMany(
      Array.from({ length: 20 }, () => ({ agent: "clerk", input: "x", batchId })),
    );
    await client.sealBatch(batchId);
    expect(await client.cancelBatch(batchId)).toBe(20);
    const batch = await client.batch(batchId);
    expect(batch.counts.cancelled).toBe(20);
    expect(batch.finishedAt).not.toBeNull();
    expect((await handles[0]?.status())?.error).toMatchObject({ code: "CANCELLED" });
    expect(await client.retryBatch(batchId)).toBe(20);
    const worker = await scriptedWorker(client, server.url, { act: () => completed() });
    await until(async () => (await client.batch(batchId)).counts.success === 20, "all succeeded");
    await worker.stop();
    await client.close();
  });

  it("takes 10,000 runs in one call", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "b3" });
    const { batchId } = await client.openBatch({ agent: "clerk" });
    const requests = Array.from({ length: 10_000 }, (_, i) => ({ agent: "clerk", input: `${i}`, batchId }));
    const handles = await client.enqueueMany(requests);
    expect(new Set(handles.map((handle) => handle.runId)).size).toBe(10_000);
    expect((await client.batch(batchId)).counts.pending).toBe(10_000);
    expect((await client.queue.counts()).waiting).toBe(10_000);
    await client.close();
  });
});
