import { type Notice, noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import type { RunRef } from "@drover/state";
import { type ConnectionOptions, Queue } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { Client } from "./client.js";
import { publish } from "./publisher.js";
import { settle } from "./settle.js";
import { Sweeper } from "./sweeper.js";
import { completed } from "./testing/fleet.js";

let server: RedisServer;
let client: Client;
let replies: Queue<Notice>;
let n = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => {
  n += 1;
  client = new Client({ redisUrl: server.url, prefix: `n${n}`, readAnswer: (_, answer) => answer });
  replies = new Queue<Notice>("billing", {
    connection: client.state.redis as unknown as ConnectionOptions,
    prefix: client.state.keys.bull,
  });
});
afterEach(async () => {
  await replies.close();
  await client.close();
});

const told = async (): Promise<Notice[]> =>
  (await replies.getJobs(["wait"])).map((job) => job.data).reverse();
const types = async () => (await told()).map((notice) => notice.type);

async function claimed(
  worker: string,
): Promise<{ run: RunRef; settled: (output: unknown) => Promise<unknown> }> {
  const run = await client.enqueueRun({ agent: "clerk", input: "x", replyTo: "billing", correlationId: "o" });
  await client.state.workers.heartbeat(worker, 100, description, { agents: {} });
  await client.state.workers.noteClaim(worker, { ...run, seq: 1 });
  const claim = await client.state.runs.claim(run, 1, worker, { clerk: "1" });
  if (claim.what !== "claimed") throw new Error(claim.what);
  await publish(client.state, client.queue, [claim.transition]);
  const budget = { attempt: 1, maxAttempts: 1 };
  return { run, settled: (output) => settle(client.state, claim.lease, budget, completed(output)) };
}
const description = { host: "h", pid: 1, version: "0", concurrency: 1, active: 0, startedAt: 0, agents: [] };
const sweep = () => new Sweeper(client.state, client.queue, () => "sweeper").sweep(1000);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a notice is sent though its sender died", () => {
  it("between the commit and the sending: by whoever takes the dead worker's runs over", async () => {
    const { settled } = await claimed("dies");
    await settled({ answer: 42 });
    expect(await types()).toEqual(["request.admitted"]);
    await pause(150);
    await sweep();
    const [, final] = await told();
    expect(final).toMatchObject({
      type: "run.final",
      status: "success",
      output: { answer: 42 },
      correlationId: "o",
    });
  });

  it("between the sending and its acknowledgement: again, under the same id", async () => {
    const { settled } = await claimed("dies");
    const transition = await settled("done");
    const dies = vi.spyOn(client.state.indexes, "apply").mockRejectedValueOnce(new Error("died here"));
    await expect(publish(client.state, client.queue, [transition as never])).rejects.toThrow("died here");
    dies.mockRestore();
    const [, first] = await replies.getJobs(["wait"]).then((jobs) => jobs.reverse());
    await first?.remove();
    await pause(150);
    await sweep();
    const again = (await told()).find((notice) => notice.type === "run.final");
    expect(again?.id).toBe(first?.id);
  });

  it("after a producer wrote a run or a decision and died", async () => {
    const dies = vi.spyOn(client.queue.notices, "send").mockRejectedValueOnce(new Error("died here"));
    const request = { agent: "clerk", input: "x", replyTo: "billing" };
    await expect(client.enqueueRun(request)).rejects.toThrow("died here");
    dies.mockRestore();
    await age();
    await sweep();
    expect(await types()).toEqual(["request.admitted"]);

    const [run] = await client.listRuns();
    const dying = vi.spyOn(client.queue.notices, "send").mockRejectedValueOnce(new Error("died here"));
    await expect(client.cancelRun(run?.runId ?? "")).rejects.toThrow("died here");
    dying.mockRestore();
    await age();
    await sweep();
    expect(await types()).toEqual(["request.admitted", "run.final"]);
  });
});

/** Lets every mark be old enough for the sweeper. */
async function age(): Promise<void> {
  const marks = client.state.keys.index("marks");
  for (const member of await client.state.redis.zrange(marks, 0, "-1")) {
    await client.state.redis.zadd(marks, 1, member);
  }
}

it("an output that is too large is left out, and the notice says so", async () => {
  const { settled } = await claimed("w");
  const transition = await settled("x".repeat(300_000));
  await publish(client.state, client.queue, [transition as never]);
  const final = (await told()).find((notice) => notice.type === "run.final");
  expect(final).toMatchObject({ output: null, outputOmitted: true, usage: noUsage() });
});

it("nobody is told who did not ask", async () => {
  await client.enqueueRun({ agent: "clerk", input: "x" });
  expect(await told()).toEqual([]);
});
