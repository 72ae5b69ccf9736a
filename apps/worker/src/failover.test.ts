import { Client } from "@drover/queue";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";
import { startWatchedRedis, type WatchedRedis } from "./testing/sentinel.js";

let redis: WatchedRedis;
let client: Client;
let fleet: Fleet;

beforeAll(async () => {
  redis = await startWatchedRedis();
  client = new Client({ redisUrl: redis.url, prefix: "fo", commandTimeoutMs: 30_000 });
  fleet = createFleet(redis.url, "fo");
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await redis.stop();
});

it("a failover: what the replica had goes on there, nothing happens twice, and everybody finds the new primary", async () => {
  const settings = { DROVER_LEASE_MS: "3000" };
  await Promise.all([fleet.start(settings), fleet.start(settings)]);
  const posts = await client.enqueueMany(
    [0, 1, 2].map((i) => ({ agent: "poster", input: JSON.stringify({ id: `post${i}`, ms: 5000 }) })),
  );
  const steps = await client.enqueueMany(
    Array.from({ length: 10 }, (_, i) => ({ agent: "stepper", input: { id: `s${i}`, ms: 900 } })),
  );
  const lines = () => fleet.ledger();
  await expect.poll(() => lines().filter((line) => line.post).length, { timeout: 30_000 }).toBe(3);
  await expect
    .poll(() => lines().filter((line) => line.step).length, { timeout: 30_000 })
    .toBeGreaterThan(10);
  // Here nothing is between primary and replica; in life what was acknowledged in the last moment may be lost.
  await client.state.redis.wait(1, 5000);
  await redis.killPrimary();
  const late = await client.enqueueRun({ agent: "stepper", input: { id: "late", ms: 0 } });
  const runs = await Promise.all([...steps, late].map((handle) => handle.result({ timeoutMs: 60_000 })));
  for (const run of runs) expect(run).toMatchObject({ status: "success", attempt: 1 });
  const posted = await Promise.all(posts.map((handle) => handle.result({ timeoutMs: 60_000 })));
  for (const run of posted) expect(run.error?.code ?? run.status).toMatch(/^(success|EFFECT_UNKNOWN)$/);
  expect(lines().filter((line) => line.post === "started")).toHaveLength(3);
}, 150_000);
