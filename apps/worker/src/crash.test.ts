import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { memberOf } from "@drover/state";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";
import { createSender } from "./testing/sender.js";

let server: RedisServer;
let client: Client;
let fleet: Fleet;
let n = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => {
  n += 1;
  client = new Client({ redisUrl: server.url, prefix: `c${n}` });
  fleet = createFleet(server.url, `c${n}`);
});
afterEach(async () => {
  await client.close();
  await fleet.end();
});

const STEPS = ["one", "two", "three", "four", "five"];

const until = async (check: () => boolean | Promise<boolean>, what: string, ms = 20_000): Promise<void> => {
  const end = Date.now() + ms;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`gave up waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

describe("a worker that is killed", () => {
  it("leaves nothing undone: its runs go on from their checkpoints elsewhere", async () => {
    const first = await fleet.start();
    await fleet.start();
    const handles = await client.enqueueMany(
      Array.from({ length: 60 }, (_, i) => ({ agent: "stepper", input: { id: `${i}`, ms: 60 } })),
    );
    await until(() => fleet.ledger().length > 100, "a third of the steps were done");
    first.kill("SIGKILL");
    await fleet.start();
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 60_000 })));
    for (const run of runs) {
      expect(run).toMatchObject({ status: "success", attempt: 1, output: { steps: STEPS } });
    }
    const crashed = runs.filter((run) => run.crashes > 0);
    expect(crashed.length).toBeGreaterThan(0);
    // Only the step that was being executed is executed again.
    const repeated = fleet.ledger().length - 60 * STEPS.length;
    expect(repeated).toBeLessThanOrEqual(crashed.length);
  }, 90_000);

  it("does not repeat a tool that is marked once, and says that its outcome is unknown", async () => {
    const first = await fleet.start();
    const handle = await client.enqueueRun({
      agent: "poster",
      input: JSON.stringify({ id: "p", ms: 60_000 }),
    });
    await until(() => fleet.ledger().length === 1, "the tool was started");
    first.kill("SIGKILL");
    await fleet.start();
    const run = await handle.result({ timeoutMs: 15_000 });
    expect(run).toMatchObject({ status: "error", error: { code: "EFFECT_UNKNOWN" } });
    expect(fleet.ledger()).toHaveLength(1);
  }, 60_000);

  it("by one of its runs sets that one aside and nobody who was beside it, and its thread goes on", async () => {
    const send = (agent: string, threadId: string, ms: number) =>
      client.enqueueRun({ agent, threadId, input: { id: threadId, ms } });
    const poison = await send("killer", "p", 300);
    // They take longer than their worker lives.
    const beside = await Promise.all(["p", "q", "r", "s"].map((threadId) => send("stepper", threadId, 350)));
    const all = Promise.all([poison, ...beside].map((run) => run.result({ timeoutMs: 60_000 })));
    let deaths = 0;
    let isOver = false;
    const keepOneAlive = async () => {
      while (!isOver) {
        const worker = await fleet.start({ DROVER_CONCURRENCY: "8" });
        await Promise.race([worker.exited, all]);
        if (!isOver) deaths += 1;
      }
    };
    const alive = keepOneAlive();
    const [first, ...others] = await all.finally(() => {
      isOver = true;
    });
    expect(first).toMatchObject({ status: "error", error: { code: "POISONED" }, crashes: 3 });
    for (const run of others) expect(run).toMatchObject({ status: "success", output: { steps: STEPS } });
    expect(others.some(({ crashes }) => crashes > 1)).toBe(true);
    expect(deaths).toBe(3);
    await alive;
  }, 90_000);
});

describe("deliveries that nobody ordered", () => {
  it("of an activation that runs, is over or is to come start nothing twice", async () => {
    await Promise.all([fleet.start(), fleet.start()]);
    const handle = await client.enqueueRun({ agent: "stepper", input: { id: "d", ms: 150 } });
    const { tenant, threadId, runId } = handle;
    const pointers = [1, 1, 1, 2, 3].map((seq, i) => ({ tenant, threadId, runId, seq, delivery: 100 + i }));
    const deliver = () => client.queue.add(pointers.map((p) => ({ ...p, delayMs: 0, priority: 0 })));
    await deliver();
    await until(() => fleet.ledger().length === 2, "the second step began");
    await deliver();
    expect(await handle.result({ timeoutMs: 20_000 })).toMatchObject({ status: "success", seq: 1 });
    await deliver();
    const { redis, keys } = client.state;
    const left = async () => [
      ...(await redis.keys(`c${n}:{index}:claims:*`)),
      ...(await redis.keys(`${keys.bull}:runs:${runId}-*`)),
    ];
    await until(async () => (await left()).length === 0, "all deliveries were dropped");
    expect(fleet.ledger().map((line) => line.step)).toEqual(STEPS);
  }, 60_000);
});

describe("a scope that is paused", () => {
  it("keeps its runs when the worker dies that put them aside, and who lets them go on dies too", async () => {
    const first = await fleet.start();
    await client.pause("agent:stepper");
    // Workers learn of it with their next sign of life.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const handles = await client.enqueueMany(
      [1, 2, 3].map((i) => ({ agent: "stepper", input: { id: `p${i}`, ms: 0 } })),
    );
    const parked = () => client.state.workers.parked("agent:stepper", 10);
    await until(async () => (await parked()).length === 3, "all were put aside");
    first.kill("SIGKILL");
    const dies = vi.spyOn(client.state.workers, "unpark").mockRejectedValue(new Error("died here"));
    await expect(client.resume("agent:stepper")).rejects.toThrow("died here");
    dies.mockRestore();
    await client.resume("agent:stepper");
    await fleet.start();
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 30_000 })));
    for (const run of runs) expect(run).toMatchObject({ status: "success", attempt: 1, crashes: 0 });
    expect(fleet.ledger()).toHaveLength(3 * STEPS.length);
    expect(await parked()).toEqual([]);
  }, 60_000);
});

describe("a worker that is stopped past its lease", () => {
  it("writes nothing after others took over, says so, and works on", async () => {
    const first = await fleet.start();
    const handle = await client.enqueueRun({ agent: "stepper", input: { id: "s", ms: 400 } });
    await until(() => fleet.ledger().length === 2, "the second step began");
    first.kill("SIGSTOP");
    const second = await fleet.start();
    const run = await handle.result({ timeoutMs: 20_000 });
    expect(run).toMatchObject({ status: "success", output: { steps: STEPS }, crashes: 1 });
    first.kill("SIGCONT");
    await until(
      () => first.logs.some((line) => /taken (its runs )?over/.test(String(line.msg))),
      "the first worker said that it lost its lease",
    );
    const after = await handle.status();
    expect(after).toEqual(run);
    second.kill("SIGKILL");
    const next = await client.enqueueRun({ agent: "stepper", input: { id: "n" } });
    expect(await next.result({ timeoutMs: 20_000 })).toMatchObject({ status: "success" });
  }, 60_000);

  it("by a blocked event loop has its work refused, and the run ends once", async () => {
    await fleet.start();
    await fleet.start();
    const asked = Date.now();
    const handle = await client.enqueueRun({ agent: "blocker", input: { id: "blocked-run", ms: 4000 } });
    const run = await handle.result({ timeoutMs: 30_000 });
    const pids = fleet.ledger().map((line) => line.pid);
    expect(pids).toHaveLength(2);
    expect(run).toMatchObject({ status: "success", crashes: 1, output: { steps: [`by ${pids[1]}`] } });
    await until(() => Date.now() - asked > 5000, "the first worker woke up");
    expect(await handle.status()).toEqual(run);
  }, 60_000);
});

describe("SIGTERM", () => {
  it("hands runs over at a step boundary: nothing finished is repeated, no attempt is spent, exit code 0", async () => {
    const first = await fleet.start();
    const handles = await client.enqueueMany(
      Array.from({ length: 10 }, (_, i) => ({ agent: "stepper", input: { id: `${i}`, ms: 150 } })),
    );
    await until(() => fleet.ledger().length >= 15, "the runs were on their way");
    first.kill("SIGTERM");
    expect(await first.exited).toBe(0);
    await fleet.start();
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 20_000 })));
    for (const run of runs) {
      expect(run).toMatchObject({ status: "success", attempt: 1, crashes: 0, output: { steps: STEPS } });
    }
    expect(fleet.ledger()).toHaveLength(10 * STEPS.length);
  }, 60_000);
});

describe("a cancel", () => {
  it("reaches a running worker at once, and nothing is started after it", async () => {
    await fleet.start();
    const handle = await client.enqueueRun({ agent: "stepper", input: { id: "c", ms: 5000 }, threadId: "t" });
    await until(() => fleet.ledger().length === 1, "the first step began");
    const asked = Date.now();
    await handle.cancel("changed my mind");
    const run = await handle.result({ timeoutMs: 5000 });
    expect(Date.now() - asked).toBeLessThan(1000);
    expect(run).toMatchObject({
      status: "cancelled",
      error: { code: "CANCELLED", message: "changed my mind" },
    });
    const next = await client.enqueueRun({ agent: "stepper", input: { id: "d", ms: 0 }, threadId: "t" });
    expect(await next.result({ timeoutMs: 10_000 })).toMatchObject({ status: "success" });
    expect(fleet.ledger().filter((line) => line.run === "c")).toHaveLength(1);
  });

  it("of a run that was tried again since reaches its worker late: the run goes on", async () => {
    await fleet.start();
    const handle = await client.enqueueRun({ agent: "stepper", input: { id: "l", ms: 300 } });
    await until(() => fleet.ledger().length === 1, "the first step began");
    const { worker, tenant, threadId, runId } = await handle.status();
    await client.state.workers.askToStop(String(worker), memberOf({ tenant, threadId, runId }));
    expect(await handle.result({ timeoutMs: 10_000 })).toMatchObject({ status: "success" });
  });
});

describe("Redis", () => {
  it("may be restarted in the middle: what was acknowledged is there, all runs end, and questions wait on", async () => {
    await fleet.start();
    await fleet.start();
    const asker = await client.enqueueRun({ agent: "asker", input: { id: "q" } });
    const { approvals } = await asker.result({ timeoutMs: 20_000 });
    const handles = await client.enqueueMany(
      Array.from({ length: 30 }, (_, i) => ({ agent: "stepper", input: { id: `${i}`, ms: 100 } })),
    );
    await until(() => fleet.ledger().length > 40, "the runs were on their way");
    await server.kill();
    await server.restart();
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 40_000 })));
    for (const run of runs) expect(run).toMatchObject({ status: "success", output: { steps: STEPS } });
    const sender = createSender(server.url, `c${n}`);
    await sender.ask("request.admitted", { type: "run.resume", approvalId: approvals[0], value: "yes" });
    await expect.poll(async () => (await asker.status()).approvals.length, { timeout: 10_000 }).toBe(2);
    await sender.close();
  }, 90_000);
});
