import { type RedisServer, startRedis } from "@drover/embedded";
import type { GetOperation, SearchOperation } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, type Redis } from "../connect.js";
import type { MemoryRefresh } from "./operations.js";
import { keysWith, openStore } from "./testing/open-store.js";

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = connect({ url: server.url, role: "worker" });
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** Minutes; waited for below. */
const SOON = 30 / 60_000;
const afterSoon = () => new Promise((resolve) => setTimeout(resolve, 60));

const itemKey = async (tenant: string): Promise<string> =>
  (await keysWith(redis, `{${tenant}/`)).find((key) => key.includes(":i:")) ?? "";

it("an expired item is not read, found or listed, and a new one of its name is new", async () => {
  const store = openStore(redis);
  await store.put(["docs", "x"], "gone", { v: 1 }, false, { ttl: SOON });
  await store.put(["docs", "y"], "gone", { v: 0 }, false, { ttl: 1 });
  const first = await store.get(["docs", "y"], "gone");
  await store.put(["docs", "y"], "gone", { v: 1 }, false, { ttl: SOON });
  await store.put(["docs", "y"], "stays", { v: 1 });
  await afterSoon();
  expect(await store.get(["docs", "y"], "gone")).toBeNull();
  expect(await store.listNamespaces()).toEqual([["docs", "y"]]);
  for (const filter of [{}, { v: 1 }]) {
    expect((await store.search(["docs"], { filter })).map(({ key }) => key)).toEqual(["stays"]);
  }
  await store.put(["docs", "y"], "gone", { v: 2 });
  const found = await store.search(["docs", "y"]);
  expect(found.map(({ key }) => key)).toEqual(["stays", "gone"]);
  expect(Number(found[1]?.createdAt)).toBeGreaterThan(Number(first?.createdAt));
});

it.each([
  ["get", { namespace: ["docs"], key: "a" }],
  ["search", { namespacePrefix: ["docs"] }],
  ["search of one shard", { namespacePrefix: ["docs", "deeper"] }],
  ["search with a filter", { namespacePrefix: ["docs"], filter: { v: 1 } }],
] satisfies [string, GetOperation | SearchOperation][])(
  "a %s starts an item's life anew, unless told not to",
  async (_, op) => {
    const tenant = `ttl-${_.replaceAll(" ", "-")}`;
    const namespace = "key" in op ? ["docs"] : ["docs", "deeper"];
    const life = async (read: MemoryRefresh, refreshOnRead?: boolean): Promise<number> => {
      const retention = { ttlMinutes: 10, ...(refreshOnRead === undefined ? {} : { refreshOnRead }) };
      const store = openStore(redis, { tenant, retention });
      await store.put(namespace, "a", { v: 1 });
      await redis.pexpire(await itemKey(tenant), 1000);
      await store.batch([{ ...op, ...read }]);
      return redis.pttl(await itemKey(tenant));
    };
    for (const ms of [await life({}), await life({ refreshTtl: true }, false)]) {
      expect(ms).toBeGreaterThan(590_000);
      expect(ms).toBeLessThanOrEqual(600_000);
    }
    for (const ms of [await life({ refreshTtl: false }), await life({}, false)]) {
      expect(ms).toBeLessThanOrEqual(1000);
    }
  },
);

it("only items on the page that a search gives live anew", async () => {
  const store = openStore(redis, { tenant: "page" });
  for (const key of ["a", "b", "c"]) await store.put(["docs", "x"], key, { key }, false, { ttl: 1 });
  const keys = (await keysWith(redis, "{page/")).filter((key) => key.includes(":i:"));
  for (const key of keys) await redis.pexpire(key, 1000);
  await store.search(["docs", "x"], { limit: 1, offset: 1 });
  await store.search(["docs", "x"], { filter: { key: { $ne: "a" } }, limit: 1 });
  const lives = await Promise.all(keys.map((key) => redis.pttl(key)));
  expect(lives.map((ms) => ms > 1000)).toEqual([false, true, false]);
});

it("each put says anew how long an item lives", async () => {
  const store = openStore(redis, { tenant: "anew", retention: { ttlMinutes: SOON } });
  await store.put(["docs"], "a", { v: 1 });
  await store.put(["docs"], "a", { v: 2 }, false, { ttl: null });
  await afterSoon();
  expect((await store.get(["docs"], "a"))?.value).toEqual({ v: 2 });
  expect(await redis.pttl(await itemKey("anew"))).toBe(-1);
  expect(await store.sweep()).toBe(0);
});

it("a sweep takes out what expired items leave, and start sweeps from time to time", async () => {
  const retention = { ttlMinutes: SOON, sweepMinutes: SOON };
  const store = openStore(redis, { tenant: "swept", retention });
  const fill = () =>
    store.batch(
      Array.from({ length: 700 }, (_, n) => ({ namespace: ["n", String(n % 7)], key: `${n}`, value: {} })),
    );
  await fill();
  await afterSoon();
  expect(await keysWith(redis, "{swept/")).not.toEqual([]);
  expect(await store.sweep()).toBeGreaterThan(500);
  expect(await keysWith(redis, "{swept/")).toEqual([]);
  await fill();
  await store.start();
  while ((await keysWith(redis, "{swept/")).length > 0) await afterSoon();
  await store.stop();
  expect(redis.status).toBe("ready");
});

it("an item that Redis evicted is taken out of the index by who finds it missing", async () => {
  const store = openStore(redis, { tenant: "evicted" });
  await store.put(["docs", "x"], "a", {});
  await store.put(["docs", "x"], "b", {});
  await redis.del(await itemKey("evicted"));
  expect((await store.search(["docs"])).map(({ key }) => key)).toEqual(["b"]);
  await redis.del(await itemKey("evicted"));
  expect(await store.search(["docs", "x"])).toEqual([]);
  expect(await keysWith(redis, "{evicted/")).toEqual([]);
});
