import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LoopLag } from "./loop-lag.js";
import { createFleet, type Fleet, type WorkerProcess } from "./testing/processes.js";

const wedged = fileURLToPath(new URL("../testing/preload-wedged.mjs", import.meta.url));

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
  client = new Client({ redisUrl: server.url, prefix: `live${n}` });
  fleet = createFleet(server.url, `live${n}`);
});
afterEach(async () => {
  await client.close();
  await fleet.end();
});

const urlOf = ({ logs }: WorkerProcess) => String(logs.find((line) => line.msg === "worker ready")?.url);
/** 200, or what is wrong. */
async function probe(worker: WorkerProcess, path: "healthz" | "readyz"): Promise<number | string[]> {
  const answer = await fetch(`${urlOf(worker)}/${path}`);
  const { checks } = (await answer.json()) as { checks: { name: string; ok: boolean }[] };
  return answer.ok ? answer.status : checks.filter(({ ok }) => !ok).map(({ name }) => name);
}
const becomes = (worker: WorkerProcess, path: "healthz" | "readyz", wanted: number | string[]) =>
  expect.poll(() => probe(worker, path), { timeout: 50_000, interval: 100 }).toEqual(wanted);
const enqueue = (id: string, ms: number) => client.enqueueRun({ agent: "stepper", input: { id, ms } });

describe("a worker that takes nothing while work waits", () => {
  it("is not healthy; others that do are, and one that waits for work is", async () => {
    const settings = { DROVER_STALL_MS: "2000" };
    const stuck = await fleet.start({ ...settings, NODE_OPTIONS: `--import=${wedged}` });
    // With nothing to do nothing is wrong, for longer than anything may stand still.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await probe(stuck, "healthz")).toBe(200);
    const handle = await enqueue("waits", 0);
    await becomes(stuck, "healthz", ["taking"]);
    const other = await fleet.start(settings);
    expect((await handle.result({ timeoutMs: 20_000 })).status).toBe("success");
    await becomes(stuck, "healthz", 200);
    expect(await probe(other, "healthz")).toBe(200);
  }, 90_000);
});

describe("a worker whose lock on a job is gone", () => {
  it("ends the run it has, and goes on taking others", async () => {
    const worker = await fleet.start({ DROVER_CONCURRENCY: "1", DROVER_STALL_MS: "4000" });
    const { redis, keys } = client.state;
    const first = await enqueue("first", 300);
    await expect.poll(() => fleet.ledger().length, { timeout: 20_000 }).toBeGreaterThan(0);
    // As if BullMQ had taken it for stalled: the lock is gone, and the job waits for the next one to come.
    const [lock = ""] = await redis.keys(`${keys.bull}:runs:*:lock`);
    const job = lock.slice(`${keys.bull}:runs:`.length, -":lock".length);
    await redis.del(lock);
    await redis.lrem(`${keys.bull}:runs:active`, 0, job);
    await redis.lpush(`${keys.bull}:runs:wait`, job);
    await redis.zadd(`${keys.bull}:runs:marker`, 0, "0");
    const others = await Promise.all([enqueue("second", 10), enqueue("third", 10)]);
    const ended = await Promise.all([first, ...others].map((h) => h.result({ timeoutMs: 30_000 })));
    for (const run of ended) expect(run).toMatchObject({ status: "success", seq: 1, crashes: 0 });
    expect(fleet.ledger()).toHaveLength(3 * 5);
    expect(await probe(worker, "healthz")).toBe(200);
  }, 60_000);
});

describe("a worker whose Redis is away", () => {
  it("is not ready, then not healthy; both again when it is back", async () => {
    const worker = await fleet.start();
    expect([await probe(worker, "readyz"), await probe(worker, "healthz")]).toEqual([200, 200]);
    await server.kill();
    await becomes(worker, "readyz", ["redis"]);
    await becomes(worker, "healthz", ["lease"]);
    await server.restart();
    await becomes(worker, "readyz", 200);
    await becomes(worker, "healthz", 200);
    await enqueue("last", 1000);
    await expect.poll(() => fleet.ledger().length, { timeout: 20_000 }).toBeGreaterThan(0);
    worker.kill("SIGTERM");
    // It hands over what it has in hand, and takes nothing more.
    await expect.poll(() => probe(worker, "readyz").catch(() => ["gone"]), { timeout: 20_000 }).not.toBe(200);
  }, 90_000);
});

describe("an event loop that is blocked", () => {
  it("most of the time is noticed, and forgotten when it was once", () => {
    let now = 0;
    const lag = new LoopLag(10_000, () => now);
    const pass = (ms: number, count: number) => {
      for (let i = 0; i < count; i += 1) {
        now += ms;
        lag.sample();
      }
    };
    lag.start();
    lag.stop();
    pass(500, 20);
    expect(lag.share).toBe(0);
    pass(4000, 1);
    expect(lag.share).toBeCloseTo(0.35);
    pass(500, 40);
    expect(lag.share).toBe(0);
    pass(2000, 6);
    expect(lag.share).toBeGreaterThan(0.7);
  });
});
