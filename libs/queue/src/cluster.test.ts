import type { Outcome } from "@drover/contracts";
import { type RedisCluster, startCluster } from "@drover/embedded";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "./client.js";
import { completed, scriptedWorker, until } from "./testing/fleet.js";

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 3 });
});
afterAll(() => cluster.stop());

describe("on a Redis Cluster", () => {
  it("runs, lanes, batches, approvals and takeovers work over all its nodes", async () => {
    const url = cluster.urls.join(",");
    const client = new Client({ redisUrl: url, prefix: "k", readAnswer: (_, answer) => answer });
    const hang = await scriptedWorker(client, url, {
      id: "hangs",
      leaseMs: 300,
      concurrency: 3,
      act: () => new Promise<Outcome>(() => {}),
    });
    const { batchId } = await client.openBatch({ agent: "clerk" });
    const handles = await client.enqueueMany(
      Array.from({ length: 40 }, (_, i) => ({
        agent: "clerk",
        input: `${i}`,
        batchId,
        threadId: `thread ${i % 20}`,
      })),
    );
    await client.sealBatch(batchId);
    await until(() => hang.started.length === 3, "three runs were taken");
    await hang.stop();
    const asked: Outcome = {
      kind: "interrupted",
      checkpointId: "c",
      questions: [{ interruptId: "i", actions: null, value: "go on?" }],
      usage: completed().usage,
    };
    const worker = await scriptedWorker(client, url, {
      id: "works",
      act: (pointer, input) => (input === "7" && pointer.seq === 1 ? asked : completed(input)),
    });
    await until(async () => {
      await worker.sweeper.sweep(1000);
      return (await client.listApprovals()).length === 1;
    }, "one run asks");
    const [approval] = await client.listApprovals();
    await client.decide(approval?.approvalId ?? "", { value: "yes" });
    await until(async () => {
      await worker.sweeper.sweep(1000);
      return (await client.batch(batchId)).finishedAt !== null;
    }, "the batch ended");
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 5000 })));
    expect(runs.map((run) => run.output)).toEqual(handles.map((_, i) => `${i}`));
    expect(runs.filter((run) => run.crashes === 1)).toHaveLength(3);
    await worker.stop();
    await client.close();
  }, 60_000);
});
