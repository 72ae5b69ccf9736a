import { isDroverError } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { type LangGraphRunnableConfig, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { type BaseStore, InvalidNamespaceError, type Operation } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Redis } from "../connect.js";
import { keysWith, openStore, scriptsDuring } from "./testing/open-store.js";

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

const invalid = (words: RegExp) => (error: unknown) =>
  isDroverError(error, "INVALID_INPUT") && words.test(error.message);
const names = async (items: ReturnType<BaseStore["search"]>) =>
  (await items).map(({ namespace, key }) => [...namespace, key].join(" "));

describe("items", () => {
  it("keep the time they were made, and get a new one with each change", async () => {
    const store = openStore(redis);
    await store.put(["docs"], "a", { v: 1 });
    const made = await store.get(["docs"], "a");
    while (Date.now() <= Number(made?.updatedAt)) await new Promise((resolve) => setTimeout(resolve, 1));
    await store.put(["docs"], "a", { v: 2 });
    const changed = await store.get(["docs"], "a");
    expect(changed).toEqual({
      namespace: ["docs"],
      key: "a",
      value: { v: 2 },
      createdAt: made?.createdAt,
      updatedAt: expect.any(Date),
    });
    expect(Number(changed?.updatedAt)).toBeGreaterThan(Number(made?.updatedAt));
    expect(await store.search(["docs"])).toEqual([changed]);
    await store.delete(["docs"], "a");
    expect(await store.get(["docs"], "a")).toBeNull();
    expect(await store.listNamespaces()).toEqual([]);
  });

  it("leave nothing behind when all are deleted", async () => {
    const store = openStore(redis, { tenant: "leaves-nothing" });
    for (const key of ["a", "b"]) await store.put(["docs", key], key, { v: 1 }, undefined, { ttl: 10 });
    for (const key of ["a", "b"]) await store.delete(["docs", key], key);
    expect(await redis.keys("*leaves-nothing*")).toEqual([]);
  });

  it("are large and small", async () => {
    const store = openStore(redis);
    const value = { text: "lorem ipsum ".repeat(100_000), lone: "\ud800" };
    await store.put(["docs"], "a", value);
    expect((await store.get(["docs"], "a"))?.value).toEqual(value);
    await store.put(["docs"], "a", {});
    expect((await store.get(["docs"], "a"))?.value).toEqual({});
  });
});

describe("a batch", () => {
  it("reads what was there before its own puts; of two puts the last counts", async () => {
    const store = openStore(redis);
    await store.put(["docs"], "a", { v: 0 });
    const ops: Operation[] = [
      { namespace: ["docs"], key: "a", value: { v: 1 } },
      { namespace: ["docs"], key: "a" },
      { namespacePrefix: ["docs"] },
      { namespace: ["docs"], key: "a", value: { v: 2 } },
    ];
    const [, got, found] = await store.batch(ops);
    expect([got, found]).toMatchObject([{ value: { v: 0 } }, [{ value: { v: 0 } }]]);
    expect((await store.get(["docs"], "a"))?.value).toEqual({ v: 2 });
  });

  it("runs one script for each shard that it gets from or puts to", async () => {
    const store = openStore(redis);
    const user = ["users", "42"];
    const ops: Operation[] = ["a", "b", "c", "d"].flatMap((key) => [
      { namespace: user, key, value: { key } },
      { namespace: [...user, "deeper"], key },
    ]);
    await store.batch(ops);
    expect(await scriptsDuring(redis, () => store.batch(ops))).toBe(1);
    expect(await scriptsDuring(redis, () => store.search(user))).toBe(1);
    expect(await scriptsDuring(redis, () => store.search(user, { filter: { key: "a" } }))).toBe(1);
    expect(await scriptsDuring(redis, () => store.search(["users"]))).toBe(17);
  });

  it("changes nothing if one of its operations is malformed", async () => {
    const store = openStore(redis);
    const good: Operation = { namespace: ["docs"], key: "a", value: { v: 1 } };
    await expect(store.batch([good, { ...good, namespace: [] }])).rejects.toThrow(InvalidNamespaceError);
    await expect(store.batch([good, { namespacePrefix: [], query: "cats" }])).rejects.toSatisfy(
      invalid(/no semantic search yet.*filter/),
    );
    expect(await store.get(["docs"], "a")).toBeNull();
  });
});

describe("a search", () => {
  it("pages through many namespaces and items, in a fixed order, and skips what is deleted", async () => {
    const store = openStore(redis);
    const put = (user: string, n: number): Operation => ({
      namespace: ["users", user],
      key: `k${n}`,
      value: { n, text: "x".repeat(4000) },
    });
    await store.batch(Array.from({ length: 100 }, (_, user) => put(String(user + 1), 0)));
    await store.batch(Array.from({ length: 700 }, (_, n) => put("0", n)));
    const whole = await names(store.search(["users"], { limit: 1000 }));
    expect(whole).toHaveLength(800);
    expect(whole.slice(0, 700)).toEqual(Array.from({ length: 700 }, (_, n) => `users 0 k${n}`));
    for (const filter of [undefined, { n: { $gte: 0 } }]) {
      const options = { limit: 300, ...(filter && { filter }) };
      const pages = [0, 300, 600].map((offset) => names(store.search(["users"], { ...options, offset })));
      expect((await Promise.all(pages)).flat()).toEqual(whole);
      const one = [0, 300, 600].map((offset) => names(store.search(["users", "0"], { ...options, offset })));
      expect((await Promise.all(one)).flat()).toEqual(whole.slice(0, 700));
    }
    expect(await names(store.search(["users"], { filter: { n: 699 } }))).toEqual(["users 0 k699"]);
    expect(await store.search(["users"], { limit: 0 })).toEqual([]);
  });

  it("compares objects by what they hold, since identity ends with storing", async () => {
    const store = openStore(redis);
    await store.put(["docs"], "a", { tags: ["x", "y"], at: { city: "Bern" } });
    for (const filter of [
      { tags: ["x", "y"] },
      { at: { city: "Bern" } },
      { at: { $in: [{ city: "Bern" }] } },
    ]) {
      expect(await names(store.search(["docs"], { filter }))).toEqual(["docs a"]);
    }
    expect(await store.search(["docs"], { filter: { tags: { $ne: ["x", "y"] } } })).toEqual([]);
  });

  it.each([
    ["an operator that is not known", { filter: { n: { $like: "x" } } }, /'\$like'.*\$eq/],
    ["a negative offset", { offset: -1 }, /offset/],
    ["a limit that is no number", { limit: Number.NaN }, /limit/],
  ])("refuses %s", async (_, options, words) => {
    await expect(openStore(redis).search([], options)).rejects.toSatisfy(invalid(words));
  });
});

describe("listNamespaces", () => {
  it("lists more than a script gives, cut at a depth, without reading all", async () => {
    const store = openStore(redis);
    const users = Array.from({ length: 3000 }, (_, n) => String(10_000 + n));
    await store.batch(
      users.map((user): Operation => ({ namespace: ["users", user, "x"], key: "k", value: {} })),
    );
    await store.put(["zebras"], "k", {});
    const all = await store.listNamespaces({ limit: 10_000 });
    expect(all).toEqual([...users.map((user) => ["users", user, "x"]), ["zebras"]]);
    expect(await store.listNamespaces({ maxDepth: 2, offset: 2990, limit: 20 })).toEqual(
      [...users.map((user) => ["users", user]), ["zebras"]].slice(2990),
    );
    expect(await store.listNamespaces({ prefix: ["users", "*"], suffix: ["x"], limit: 1 })).toEqual([all[0]]);
    const roots = () => store.listNamespaces({ maxDepth: 1 });
    expect(await roots()).toEqual([["users"], ["zebras"]]);
    expect(await scriptsDuring(redis, roots)).toBeLessThanOrEqual(32);
    expect(await scriptsDuring(redis, () => store.listNamespaces({ prefix: ["users", "10007"] }))).toBe(1);
  });
});

it.each([
  ["no object", 7, /must be an object/],
  ["an array", [1], /must be an object/],
  ["a Date", new Date(), /must be an object/],
  ["undefined", undefined, /must be an object/],
  ["a BigInt", { n: 1n }, /BigInt/],
])("refuses %s as a value", async (_, value, words) => {
  const put = openStore(redis).put(["docs"], "a", value as never);
  await expect(put).rejects.toSatisfy(invalid(words));
});

it("refuses values beyond its limit, ttls that are none and keys of broken Unicode", async () => {
  const store = openStore(redis, { maxValueBytes: 100 });
  const put = store.put(["docs"], "a", { text: "x".repeat(100) });
  await expect(put).rejects.toSatisfy((error) => isDroverError(error, "INPUT_TOO_LARGE"));
  await expect(store.put(["docs"], "a", {}, false, { ttl: 0 })).rejects.toSatisfy(invalid(/ttl/));
  await expect(store.get(["docs"], "\ud800")).rejects.toSatisfy(invalid(/Unicode/));
  await expect(store.get(["\ud800"], "a")).rejects.toSatisfy(invalid(/Unicode/));
});

it("serves as the store of a graph", async () => {
  const store = openStore(redis);
  const remember = async (_: unknown, config: LangGraphRunnableConfig) => {
    const seen = await config.store?.get(["users", "42"], "visits");
    await config.store?.put(["users", "42"], "visits", { n: (seen?.value.n ?? 0) + 1 });
    return {};
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("remember", remember)
    .addEdge("__start__", "remember")
    .compile({ store });
  await graph.invoke({ messages: [] });
  await graph.invoke({ messages: [] });
  expect((await store.get(["users", "42"], "visits"))?.value).toEqual({ n: 2 });
});

it("keeps items and indexes together while many write", async () => {
  const other = connect({ url: server.url, role: "worker" });
  const writers = [redis, other, redis, other].map((one) => openStore(one, { tenant: "many" }));
  const pick = (n: number) => Math.floor(Math.random() * n);
  const write = async (store: BaseStore) => {
    for (let i = 0; i < 250; i += 1) {
      const namespace = ["n", String(pick(3))];
      const key = `k${pick(3)}`;
      await (pick(2) ? store.put(namespace, key, {}) : store.delete(namespace, key));
    }
  };
  await Promise.all(writers.map(write));
  other.disconnect();
  const items = (await keysWith(redis, "{many/"))
    .flatMap((key) => /:i:n\/(\d)\/ (.*)/.exec(key)?.slice(1).join(" ") ?? [])
    .sort();
  const store = openStore(redis, { tenant: "many" });
  expect((await names(store.search([], { limit: 100 }))).sort()).toEqual(items.map((item) => `n ${item}`));
  expect(await store.listNamespaces()).toEqual(
    [...new Set(items.map((item) => item[0] ?? ""))].map((n) => ["n", n]),
  );
});
