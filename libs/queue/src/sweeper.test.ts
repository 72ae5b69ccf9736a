import type { Outcome } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Shares } from "@drover/state";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Client } from "./client.js";
import { park } from "./run-control.js";
import { Sweeper } from "./sweeper.js";
import { completed, scriptedWorker, until } from "./testing/fleet.js";

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

/** Makes every mark old enough for the sweeper. */
async function age({ state }: Client): Promise<void> {
  const marks = state.keys.index("marks");
  for (const member of await state.redis.zrange(marks, 0, "-1")) await state.redis.zadd(marks, 1, member);
}

const never = () => new Promise<Outcome>(() => {});

describe("the sweeper", () => {
  it("gives the runs of a worker that is gone to another one, in their order", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s1" });
    const gone = await scriptedWorker(client, server.url, { id: "gone", leaseMs: 200, act: never });
    const handles = await client.enqueueMany(
      [1, 2, 3].map((i) => ({ agent: "clerk", input: `${i}`, threadId: "t" })),
    );
    await until(() => gone.started.length === 1, "the first run was taken");
    await gone.stop();
    const other = await scriptedWorker(client, server.url, {
      id: "other",
      act: (_, input) => completed(input),
    });
    await until(async () => {
      await other.sweeper.sweep(1000);
      return (await handles[2]?.status())?.status === "success";
    }, "the last run ended");
    expect(other.started.map((p) => [p.runId, p.seq])).toEqual([
      [handles[0]?.runId, 2],
      [handles[1]?.runId, 1],
      [handles[2]?.runId, 1],
    ]);
    expect(await handles[0]?.status()).toMatchObject({ attempt: 1, crashes: 1 });
    expect((await client.state.workers.list()).map((w) => w.worker)).toEqual(["other"]);
    await other.stop();
    await client.close();
  });

  it("finds a run that its worker claimed again while the run was being taken from it", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s8" });
    const { workers } = client.state;
    const late = await scriptedWorker(client, server.url, { id: "late", leaseMs: 100, act: never });
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    await until(() => late.started.length === 1, "the run was taken");
    const drop = workers.dropClaim.bind(workers);
    vi.spyOn(workers, "dropClaim").mockImplementationOnce(async (worker, claim) => {
      await until(() => late.started.length === 2, "the late worker had the run again");
      await drop(worker, claim);
    });
    const other = await scriptedWorker(client, server.url, { id: "other", act: () => completed() });
    await other.stop();
    await new Promise((resolve) => setTimeout(resolve, 150));
    await other.sweeper.sweep(1000);
    expect(await handle.status()).toMatchObject({ status: "running", worker: "late" });
    await late.stop();
    const third = await scriptedWorker(client, server.url, { id: "third", act: () => completed() });
    await until(async () => {
      await third.sweeper.sweep(1000);
      return (await handle.status()).status === "success";
    }, "the run ended");
    await third.stop();
    await client.close();
  });

  it("leaves a worker alone that finds itself overdue: Redis was away, for everyone", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s9" });
    const worker = await scriptedWorker(client, server.url, { leaseMs: 50, act: never });
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    await until(() => worker.started.length === 1, "the run was taken");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await worker.sweeper.sweep(1000);
    expect(await handle.status()).toMatchObject({ status: "running", crashes: 0 });
    expect(await worker.beat()).toMatchObject({ alive: true });
    await worker.stop();
    await client.close();
  });

  it("delivers again what a worker fetched and died before it claimed", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s6" });
    const gone = await scriptedWorker(client, server.url, { id: "gone", leaseMs: 200, act: never });
    vi.spyOn(client.state.runs, "claim").mockImplementationOnce(() => new Promise(() => {}));
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    await until(async () => (await client.queue.counts()).active === 1, "the pointer was fetched");
    await gone.stop();
    const other = await scriptedWorker(client, server.url, { id: "other", act: () => completed() });
    await until(async () => {
      await other.sweeper.sweep(1000);
      return (await handle.status()).status === "success";
    }, "the run ended");
    expect(other.started.map((p) => [p.seq, p.delivery])).toEqual([[1, 2]]);
    await other.stop();
    await client.close();
  });

  it("publishes what a producer wrote before it died", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s2" });
    const dies = vi.spyOn(client.queue, "add").mockRejectedValueOnce(new Error("the producer died here"));
    await expect(client.enqueueRun({ agent: "clerk", input: "x", idempotencyKey: "k" })).rejects.toThrow(
      "died here",
    );
    dies.mockRestore();
    const worker = await scriptedWorker(client, server.url, { act: () => completed() });
    await age(client);
    await worker.sweeper.sweep(1000);
    const [run] = await client.listRuns();
    const ended = await (await client.run(run?.runId ?? "")).result({ timeoutMs: 5000 });
    expect(ended.status).toBe("success");
    // Looked at once more: what a producer sent may arrive when it has given up.
    await age(client);
    await worker.sweeper.sweep(1000);
    expect(await client.state.redis.zcard(client.state.keys.index("marks"))).toBe(0);
    await worker.stop();
    await client.close();
  });

  it("publishes what a producer left on a thread that others wrote to since", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s7" });
    const dies = vi.spyOn(client.queue, "add").mockRejectedValueOnce(new Error("the producer died here"));
    const first = client.enqueueRun({ agent: "clerk", input: "1", threadId: "t" });
    await expect(first).rejects.toThrow("died here");
    dies.mockRestore();
    const second = await client.enqueueRun({ agent: "clerk", input: "2", threadId: "t" });
    const worker = await scriptedWorker(client, server.url, { act: () => completed() });
    await age(client);
    await worker.sweeper.sweep(1000);
    expect(await second.result({ timeoutMs: 5000 })).toMatchObject({ status: "success" });
    expect(worker.started).toHaveLength(2);
    await worker.stop();
    await client.close();
  });

  it("fills the queue again after it lost everything", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s3" });
    const handles = await client.enqueueMany(
      Array.from({ length: 50 }, (_, i) => ({ agent: "clerk", input: `${i}` })),
    );
    const bull = await client.state.redis.keys("{s3-bull}*");
    await client.state.redis.del(...bull);
    const due = client.state.keys.index("due");
    for (const member of await client.state.redis.zrange(due, 0, "-1"))
      await client.state.redis.zadd(due, 1, member);
    const worker = await scriptedWorker(client, server.url, { act: () => completed() });
    for (let i = 0; i < 3; i += 1) await worker.sweeper.sweep(1000);
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 8000 })));
    expect(runs.every((run) => run.status === "success")).toBe(true);
    expect(worker.started).toHaveLength(50);
    await worker.stop();
    await client.close();
  });

  it("takes back shares of runs that are over, and delivers again what was let in and not told", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s10" });
    const { redis, keys, indexes } = client.state;
    const shares = new Shares(redis, keys, 0);
    client.state.shares = shares;
    const limits = [{ kind: "key", name: "k", limit: 1, group: "clerk" } as const];
    await shares.take({ tenant: "default", threadId: "t", runId: "gone", seq: 1, delivery: 1 }, 5, limits);
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    expect((await shares.take({ ...handle, seq: 1, delivery: 1 }, 5, limits)).waitsFor).toMatchObject({
      name: "k",
    });
    expect(await indexes.countDue()).toBe(0);
    // As if its delivery had ended when it was put in line.
    await redis.del(...(await redis.keys(`${keys.bull}:runs:*`)));
    const worker = await scriptedWorker(client, server.url, { act: () => completed() });
    await until(async () => {
      await worker.sweeper.sweep(1000);
      return (await handle.status()).status === "success";
    }, "the run ended");
    await worker.stop();
    expect(await redis.keys("s10:{index}:share*")).toEqual([]);
    await client.close();
  });

  it("lets runs go on that a worker put aside when it died, in a scope that is not paused", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s11" });
    const { workers, redis, keys } = client.state;
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    await client.pause("agent:clerk");
    await park(client.state, client.queue, handle, "agent:clerk");
    await redis.del(...(await redis.keys(`${keys.bull}:runs:*`)));
    const worker = await scriptedWorker(client, server.url, { act: () => completed() });
    await worker.sweeper.sweep(1000);
    expect(await workers.parked("agent:clerk", 9)).toHaveLength(1);
    // As if whoever resumed it had looked before it was put aside.
    await workers.pause("agent:clerk", false);
    await worker.sweeper.sweep(1000);
    expect(await handle.result({ timeoutMs: 8000 })).toMatchObject({ status: "success" });
    expect(await redis.keys("s11:{index}:parked*")).toEqual([]);
    await worker.stop();
    await client.close();
  });

  it("forgets runs whose time is over", async () => {
    const client = new Client({
      redisUrl: server.url,
      prefix: "s4",
      retention: { runs: 1, threads: 1, events: 1 },
    });
    const worker = await scriptedWorker(client, server.url, { act: () => completed() });
    const handles = await client.enqueueMany(
      Array.from({ length: 20 }, () => ({ agent: "clerk", input: "x" })),
    );
    await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 5000 })));
    await until(async () => {
      await worker.sweeper.sweep(1000);
      const left = await client.state.redis.keys("s4:*");
      const names = left.map((key) => key.replace("s4:{index}:", "")).sort();
      return names.join() === "agents,states,sweeper,worker:w1,workers";
    }, "nothing was left of the runs");
    await worker.stop();
    await client.close();
  });

  it("stays the one in a Redis that is full, so that somebody tells of it", async () => {
    const full = await startRedis();
    const client = new Client({ redisUrl: full.url, prefix: "s4b" });
    const { state, queue } = client;
    const sweepers = ["w1", "w2"].map((id) => new Sweeper(state, queue, () => id));
    const [first, second] = sweepers as [Sweeper, Sweeper];
    await first.sweep(3000);
    await state.redis.config("SET", "maxmemory", "1");
    const end = Date.now() + 3500;
    while (Date.now() < end) {
      await first.rescue(3000).catch(() => {});
      await second.rescue(3000).catch(() => {});
    }
    expect([first.leads, second.leads]).toEqual([true, false]);
    await state.redis.config("SET", "maxmemory", "0");
    await client.close();
    await full.stop();
  });

  it("is one at a time", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "s5" });
    const workers = await Promise.all(
      ["a", "b"].map((id) => scriptedWorker(client, server.url, { id, leaseMs: 100, act: never })),
    );
    const gone = vi.spyOn(client.state.workers, "gone");
    for (let i = 0; i < 5; i += 1) await Promise.all(workers.map((worker) => worker.sweeper.sweep(5000)));
    expect(gone).toHaveBeenCalledTimes(5);
    await Promise.all(workers.map((worker) => worker.stop()));
    await client.close();
  });
});
