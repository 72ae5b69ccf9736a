import { rmSync } from "node:fs";
import { isDroverError } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { connect, type Redis } from "@drover/state";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";

let server: RedisServer;
let admin: Redis;
let client: Client;
let fleet: Fleet;

beforeAll(async () => {
  server = await startRedis();
  admin = connect({ url: server.url, role: "worker" });
  client = new Client({ redisUrl: server.url, prefix: "r", commandTimeoutMs: 1500 });
  fleet = createFleet(server.url, "r");
  await fleet.start();
});
afterAll(async () => {
  admin.disconnect();
  await client.close();
  await fleet.end();
  await server.stop();
});

const enqueue = (id: string, ms: number) => client.enqueueRun({ agent: "stepper", input: { id, ms } });
const problem = async (what: Promise<unknown>): Promise<{ code: string; message: string }> => {
  const error = await what.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!isDroverError(error)) throw new Error(`not a DroverError: ${error}`);
  return error;
};

describe("a Redis that has no memory left", () => {
  it.each([
    ["in the moment", 0],
    ["while it is worked on", 400],
  ])(
    "refuses a new run readably; what was accepted %s ends once there is memory again",
    async (_, sinceMs) => {
      const handle = await enqueue(`oom-${sinceMs}`, 300);
      await new Promise((resolve) => setTimeout(resolve, sinceMs));
      await admin.config("SET", "maxmemory", "1");
      expect(await problem(enqueue("late", 0))).toMatchObject({
        code: "REDIS_REFUSED",
        message: expect.stringContaining("no memory left"),
      });
      await new Promise((resolve) => setTimeout(resolve, 2500));
      await admin.config("SET", "maxmemory", "0");
      const run = await handle.result({ timeoutMs: 40_000 });
      expect(run).toMatchObject({
        status: "success",
        output: { steps: ["one", "two", "three", "four", "five"] },
        crashes: 0,
      });
    },
    60_000,
  );
});

describe("workers of a Redis that has no memory left", () => {
  it("are not ready and say why, need no restart whatever waits, and count no crash", async () => {
    const own = new Client({ redisUrl: server.url, prefix: "full", commandTimeoutMs: 30_000 });
    const two = createFleet(server.url, "full");
    onTestFinished(async () => {
      await admin.config("SET", "maxmemory", "0");
      await own.close();
      await two.end();
    });
    const settings = { DROVER_STALL_MS: "1000", DROVER_CONCURRENCY: "4" };
    const workers = await Promise.all([two.start(settings), two.start(settings)]);
    const send = (id: string, ms: number) => own.enqueueRun({ agent: "stepper", input: { id, ms } });
    const handles = await Promise.all(["a", "b", "c", "d"].map((id) => send(id, 400)));
    await expect.poll(() => two.ledger().length, { timeout: 20_000 }).toBeGreaterThan(3);
    // What waits on the queue while there is room for it, and cannot be taken.
    for (const worker of workers) worker.kill("SIGSTOP");
    handles.push(await send("e", 0), await send("f", 0));
    await admin.config("SET", "maxmemory", "1");
    for (const worker of workers) worker.kill("SIGCONT");
    const probe = async (url: string) => {
      const answer = await fetch(url);
      return `${answer.status} ${await answer.text()}`;
    };
    for (const { url } of workers) {
      await expect.poll(() => probe(`${url()}/readyz`)).toMatch(/^503 .*no memory left/);
    }
    const unhealthy: string[] = [];
    for (const end = Date.now() + 2200; Date.now() < end; ) {
      const said = await Promise.all(workers.map(({ url }) => probe(`${url()}/healthz`)));
      unhealthy.push(...said.filter((one) => !one.startsWith("200")));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await admin.config("SET", "maxmemory", "0");
    expect(unhealthy).toEqual([]);
    const lines = workers.flatMap(({ logs }) => logs).filter(({ level }) => level !== "info");
    const codes = lines.map(({ err, msg }) => `${msg}: ${(err as { code?: string } | undefined)?.code}`);
    expect(codes).toContain("the heartbeat failed: REDIS_REFUSED");
    expect(codes.filter((line) => !/: (REDIS_REFUSED|NO_REDIS)$/.test(line))).toEqual([]);
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 40_000 })));
    for (const run of runs) expect(run).toMatchObject({ status: "success", crashes: 0 });
    for (const { url } of workers) await expect.poll(() => probe(`${url()}/readyz`)).toMatch(/^200/);
  }, 90_000);
});

describe("a Redis that cannot write to its disk", () => {
  it("refuses a new run readably", async () => {
    const other = await startRedis({ appendonly: false });
    const direct = connect({ url: other.url, role: "worker" });
    const producer = new Client({ redisUrl: other.url });
    await direct.config("SET", "save", "1 1");
    rmSync(other.dir, { recursive: true, force: true });
    const refused = async (): Promise<boolean> => {
      await direct.bgsave().catch(() => {});
      return (await direct.info("persistence")).includes("rdb_last_bgsave_status:err");
    };
    while (!(await refused())) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await problem(producer.enqueueRun({ agent: "stepper", input: { id: "x" } }))).toMatchObject({
      code: "REDIS_REFUSED",
      message: expect.stringContaining("free space on Redis's disk"),
    });
    direct.disconnect();
    await producer.close();
    await other.kill();
    await other.stop();
  });
});

describe("a Redis that is away", () => {
  it("gives a producer a clear error in bounded time; workers wait, and everything accepted ends", async () => {
    const handle = await enqueue("away", 300);
    await server.kill("SIGSTOP");
    const asked = Date.now();
    expect(await problem(enqueue("frozen", 0))).toMatchObject({ code: "NO_REDIS" });
    expect(Date.now() - asked).toBeLessThan(10_000);
    await server.kill("SIGCONT");
    expect(await handle.result({ timeoutMs: 40_000 })).toMatchObject({ status: "success", crashes: 0 });
  }, 60_000);

  it("and comes back ends no worker: no run counts a crash, whoever reaches it first", async () => {
    const own = new Client({ redisUrl: server.url, prefix: "back", commandTimeoutMs: 30_000 });
    const two = createFleet(server.url, "back");
    onTestFinished(async () => {
      await own.close();
      await two.end();
    });
    const settings = { DROVER_LEASE_MS: "3000" };
    await Promise.all([two.start(settings), two.start(settings)]);
    const handles = await own.enqueueMany(
      Array.from({ length: 8 }, (_, i) => ({ agent: "stepper", input: { id: `o${i}`, ms: 700 } })),
    );
    await expect.poll(() => new Set(two.ledger().map((line) => line.pid)).size, { timeout: 20_000 }).toBe(2);
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, 4000));
    await server.restart();
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 60_000 })));
    for (const run of runs) expect(run).toMatchObject({ status: "success", crashes: 0, attempt: 1 });
  }, 90_000);
});

describe("a worker whose Redis is gone for good", () => {
  it("still leaves when it is told to", async () => {
    const other = await startRedis();
    const lonely = createFleet(other.url, "lonely");
    onTestFinished(async () => {
      await lonely.end();
      await other.stop();
    });
    const worker = await lonely.start({ DROVER_DRAIN_MS: "100" });
    await other.kill();
    worker.kill("SIGTERM");
    expect(await worker.exited).toBe(0);
  });

  it("and that is told to while it is away leaves when it is back, long before its time is over", async () => {
    const other = await startRedis();
    const lonely = createFleet(other.url, "lonely");
    onTestFinished(async () => {
      await lonely.end();
      await other.stop();
    });
    const worker = await lonely.start();
    await other.kill();
    await new Promise((resolve) => setTimeout(resolve, 300));
    worker.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 500));
    await other.restart();
    const backAt = Date.now();
    expect(await worker.exited).toBe(0);
    expect(Date.now() - backAt).toBeLessThan(10_000);
  }, 40_000);
});
