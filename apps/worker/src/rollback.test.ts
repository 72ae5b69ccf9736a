import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { connect, createKeys } from "@drover/state";
import { RedisSaver } from "@drover/state/checkpoints";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";

let server: RedisServer;
let client: Client;
let fleet: Fleet;

beforeAll(async () => {
  server = await startRedis();
  client = new Client({ redisUrl: server.url, prefix: "rb" });
  fleet = createFleet(server.url, "rb");
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await server.stop();
});

const STEPS = ["one", "two", "three", "four", "five"];
const steps = (id: string) => fleet.ledger().filter((line) => line.run === id).length;
const enqueue = (id: string, ms: number, threadId: string) =>
  client.enqueueRun({ agent: "stepper", input: { id, ms }, threadId });
const replace = (id: string, threadId: string, tell = true) => {
  if (!tell) {
    // As if the producer had died before it told anybody.
    vi.spyOn(client.state.runs, "cancel").mockRejectedValueOnce(new Error("died here"));
  }
  const request = { agent: "stepper", input: { id, ms: 0 }, threadId } as const;
  return client.enqueueRun({ ...request, multitaskStrategy: "rollback", idempotencyKey: id });
};

/** The runs that have checkpoints in the thread. */
async function writers(threadId: string): Promise<string[]> {
  const redis = connect({ url: server.url, role: "worker" });
  const saver = new RedisSaver({ redis, keys: createKeys("rb"), tenant: "default" });
  const found = new Set<string>();
  for await (const { metadata } of saver.list({ configurable: { thread_id: threadId } })) {
    found.add(String((metadata as { run_id?: string }).run_id));
  }
  redis.disconnect();
  return [...found];
}

it("stops the thread's run and takes back what it did to the thread, also when its worker is killed then", async () => {
  const worker = await fleet.start();
  const first = await enqueue("first", 0, "t");
  expect((await first.result({ timeoutMs: 30_000 })).output).toEqual({ id: "first", ms: 0, steps: STEPS });
  const second = await enqueue("second", 500, "t");
  await expect.poll(() => steps("second"), { timeout: 20_000 }).toBeGreaterThan(1);
  const third = await replace("third", "t");
  const replaced = await second.result({ timeoutMs: 10_000 });
  expect(replaced).toMatchObject({
    ...{ status: "cancelled", output: null },
    error: { message: expect.stringContaining("taken back") },
  });
  // Only what the first one left, and what the third one added.
  const output = { id: "third", ms: 0, steps: [...STEPS, ...STEPS] };
  expect((await third.result({ timeoutMs: 20_000 })).output).toEqual(output);
  expect((await writers("t")).sort()).toEqual([first.runId, third.runId].sort());

  const fourth = await enqueue("fourth", 500, "t");
  await expect.poll(() => steps("fourth"), { timeout: 20_000 }).toBeGreaterThan(1);
  worker.kill("SIGSTOP");
  const fifth = replace("fifth", "t");
  await expect.poll(async () => (await fourth.status()).cancelReason, { timeout: 20_000 }).not.toBeNull();
  worker.kill("SIGKILL");
  await fleet.start();
  expect((await (await fifth).result({ timeoutMs: 30_000 })).output).toMatchObject({
    steps: [...STEPS, ...STEPS, ...STEPS],
  });
  expect(await fourth.status()).toMatchObject({ status: "cancelled" });
  expect(await writers("t")).not.toContain(fourth.runId);
}, 120_000);

it("holds once the run is accepted: what the producer could not tell any more, a sweeper does", async () => {
  const run = await enqueue("waits", 60_000, "u");
  await expect.poll(() => steps("waits"), { timeout: 20_000 }).toBe(1);
  await expect(replace("next", "u", false)).rejects.toThrow("died here");
  expect(await run.result({ timeoutMs: 30_000 })).toMatchObject({ status: "cancelled" });
  const next = await replace("next", "u");
  expect((await next.result({ timeoutMs: 20_000 })).output).toMatchObject({ steps: STEPS });
  expect(await writers("u")).toEqual([next.runId]);
}, 60_000);
