import type { Run } from "@drover/contracts";
import { type RedisCluster, type RedisServer, startCluster, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet } from "./testing/processes.js";

let server: RedisServer;
let cluster: RedisCluster;

beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), startCluster()]);
});
afterAll(() => Promise.all([server.stop(), cluster.stop()]));

/** The most of the runs that were being worked on at once, from their first start to their end. */
function most(runs: readonly Run[]): number {
  const overlapping = runs.map(
    ({ startedAt: at }) =>
      runs.filter(
        ({ startedAt, finishedAt }) => (startedAt ?? 0) <= (at ?? 0) && (at ?? 0) < (finishedAt ?? 0),
      ).length,
  );
  return Math.max(...overlapping);
}

const SETTINGS = { DROVER_POLICY: "fleet.json", DROVER_CONCURRENCY: "4" };

describe("limits of concurrent runs", () => {
  it("hold over two workers, one of them killed; others pass those that wait, and nothing is left", async () => {
    const client = new Client({ redisUrl: server.url, prefix: "lim" });
    const fleet = createFleet(server.url, "lim");
    const first = await fleet.start(SETTINGS);
    await fleet.start(SETTINGS);
    const limited = await client.enqueueMany(
      Array.from({ length: 12 }, (_, i) => ({
        ...{ agent: "stepper", input: { id: `k${i}`, ms: 40 } },
        ...{ concurrencyKey: "printer", concurrencyLimit: 3 },
      })),
    );
    // More of them wait than there are slots: whoever has no limit is not behind them.
    const free = await client.enqueueRun({ agent: "stepper", input: { id: "free", ms: 0 } });
    await expect
      .poll(async () => {
        const waiting = await Promise.all(
          limited.map(async (handle) => client.waitsFor(await handle.status())),
        );
        return waiting.filter((why) => why?.what === "concurrency").length;
      })
      .toBeGreaterThan(4);
    expect((await free.result({ timeoutMs: 15_000 })).status).toBe("success");
    await expect
      .poll(async () =>
        (await Promise.all(limited.map((h) => h.status()))).some((r) => r.finishedAt !== null),
      )
      .toBe(true);
    first.kill("SIGKILL");
    const runs = await Promise.all(limited.map((handle) => handle.result({ timeoutMs: 60_000 })));
    expect(runs.every(({ status }) => status === "success")).toBe(true);
    expect(most(runs)).toBe(3);
    expect(await client.state.redis.keys("lim:{index}:share*")).toEqual([]);
    await client.close();
    await fleet.end();
  }, 120_000);

  it("by the fleet's policy, for an agent, on a Cluster", async () => {
    const client = new Client({ redisUrl: cluster.urls.join(","), prefix: "limc" });
    const fleet = createFleet(cluster.urls.join(","), "limc");
    await fleet.start(SETTINGS);
    const handles = await client.enqueueMany(
      Array.from({ length: 7 }, (_, i) => ({
        agent: "poster",
        input: JSON.stringify({ id: `${i}`, ms: 100 }),
      })),
    );
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 60_000 })));
    expect(runs.every(({ status }) => status === "success")).toBe(true);
    expect(most(runs)).toBe(2);
    await client.close();
    await fleet.end();
  }, 120_000);
});
