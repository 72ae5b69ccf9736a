import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProviderServer, startProviderServer } from "../../../../libs/runtime/src/testing/index.js";
import { createFleet, type Fleet } from "../testing/processes.js";

/** A round is a thread on which ten runs are enqueued at once; its limit is three model calls. */
const RUNS = 10;
const LIMIT = 3;
const ROUNDS = Number(process.env.LIMIT_ROUNDS ?? 25);
const project = fileURLToPath(new URL("../../testing/features/", import.meta.url));

let redis: RedisServer;
let provider: ProviderServer;
let fleet: Fleet;
let client: Client;
beforeAll(async () => {
  redis = await startRedis();
  provider = await startProviderServer({ script: () => ({ text: "fine", delayMs: 5 }) });
  client = new Client({ redisUrl: redis.url, prefix: "load" });
  fleet = createFleet(redis.url, "load", project);
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await provider.close();
  await redis.stop();
});

const start = () =>
  fleet.start({
    ...provider.env,
    FEATURES: "on",
    DROVER_PII_HASH_KEY: "a key of sixteen bytes and more",
    // Here a worker's death is never the run's fault.
    DROVER_MAX_CRASHES: "100",
  });
const enqueue = (kind: string, rounds: number) =>
  client.enqueueMany(
    Array.from({ length: rounds * RUNS }, (_, i) => ({
      agent: "model_thread_limit",
      threadId: `${kind}-${i % rounds}`,
      input: `round ${kind}-${i % rounds}.`,
    })),
  );

/** Requests to the provider, by round. */
function requestsOf(kind: string, rounds: number): number[] {
  const asked = provider.requests.map(({ messages }) => messages[0]?.text);
  return Array.from(
    { length: rounds },
    (_, i) => asked.filter((text) => text === `round ${kind}-${i}.`).length,
  );
}

describe("ten runs at once on a thread with a limit of three model calls", () => {
  it(`cause exactly three requests, in ${ROUNDS} rounds at a time on two workers`, async () => {
    await Promise.all([start(), start()]);
    const handles = await enqueue("calm", ROUNDS);
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 240_000 })));
    expect(requestsOf("calm", ROUNDS)).toEqual(Array.from({ length: ROUNDS }, () => LIMIT));
    const ended = runs.filter(({ status }) => status === "success").map(({ endedBy }) => endedBy);
    expect(ended.filter((endedBy) => endedBy === "completed")).toHaveLength(ROUNDS * LIMIT);
    expect(ended.filter((endedBy) => endedBy === "model_call_limit")).toHaveLength(ROUNDS * (RUNS - LIMIT));
  }, 300_000);

  it("never more than three where workers are killed in between", async () => {
    const rounds = Math.ceil(ROUNDS / 10);
    const before = provider.requests.length;
    provider.use(() => ({ text: "fine", delayMs: 100 }));
    await fleet.killAll();
    const handles = await enqueue("killed", rounds);
    const all = Promise.all(handles.map((handle) => handle.result({ timeoutMs: 200_000 })));
    for (let i = 1; i <= 3; i += 1) {
      await Promise.all([start(), start()]);
      await Promise.race([provider.received(before + rounds * i - i), all]);
      await fleet.killAll();
    }
    await Promise.all([start(), start()]);
    const runs = await all;
    expect(runs.every(({ status }) => status === "success")).toBe(true);
    expect(runs.some(({ crashes }) => crashes > 0)).toBe(true);
    for (const requests of requestsOf("killed", rounds)) expect(requests).toBeLessThanOrEqual(LIMIT);
  }, 300_000);
});
