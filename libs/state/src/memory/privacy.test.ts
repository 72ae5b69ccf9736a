import { randomBytes } from "node:crypto";
import { DroverError, isDroverError, type Redactor } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, type Redis } from "../connect.js";
import { createAesCodec } from "../encryption/aes-codec.js";
import { openStore } from "./testing/open-store.js";

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

/** Everything in Redis, values and names. */
async function everything(): Promise<string> {
  const dumps = (await redis.keys("*")).map(async (key) => `${key} ${await redis.dumpBuffer(key)}`);
  return (await Promise.all(dumps)).join("\n");
}

const redactor: Redactor = {
  text: (text) => text.replaceAll("secret", "***"),
  value: <T>(value: T, place: string) => {
    expect(place).toBe("memory");
    if (JSON.stringify(value).includes("forbidden")) throw new DroverError("PII_BLOCKED", "blocked");
    return JSON.parse(JSON.stringify(value).replaceAll("secret", "***")) as T;
  },
};

it("keeps tenants and namespaces apart, whatever characters they contain", async () => {
  const names = [
    "a",
    "b",
    "a/b",
    "a%2Fb",
    "%61",
    "{a}",
    "a}",
    "*",
    "a b",
    " ",
    "A",
    "é",
    "e\u0301",
    "\n",
    "0",
    "~",
  ];
  const tenants = ["a", "b", "a/b", "a%2Fb", "a}", "a:b", ""];
  const stores = tenants.map((tenant) => ({ tenant, store: openStore(redis, { tenant }) }));
  const places = [...names.map((name) => [name]), ["a", "b"], ["a", "a/b"], ["a/b", "c"], ["a", "b", "c"]];
  const keys = names.slice(0, 6);
  for (const { tenant, store } of stores) {
    await store.batch(
      places.flatMap((namespace) =>
        keys.map((key) => ({ namespace, key, value: { tenant, namespace, key } })),
      ),
    );
  }
  for (const { tenant, store } of stores) {
    for (const namespace of places) {
      for (const { value } of await store.search(namespace, { limit: 10_000 })) {
        expect(value.tenant).toBe(tenant);
        expect(value.namespace.slice(0, namespace.length)).toEqual(namespace);
      }
      const got = await store.batch(keys.map((key) => ({ namespace, key })));
      expect(got.map((item) => item?.value)).toEqual(keys.map((key) => ({ tenant, namespace, key })));
    }
    expect(await store.listNamespaces({ limit: 1000 })).toHaveLength(places.length);
    expect(await store.search([], { limit: 10_000 })).toHaveLength(places.length * keys.length);
  }
});

it("stores no text that a rule covers, and refuses names that hold one", async () => {
  const store = openStore(redis, { redactor });
  await store.put(["docs"], "a", { text: "my secret", tool: { toJSON: () => "a secret" } });
  expect((await store.get(["docs"], "a"))?.value).toEqual({ text: "my ***", tool: "a ***" });
  for (const [namespace, key] of [
    [["a secret"], "k"],
    [["docs"], "a secret"],
  ] as const) {
    await expect(store.put([...namespace], key, {})).rejects.toSatisfy(
      (error) => isDroverError(error, "INVALID_INPUT") && !error.message.includes("secret"),
    );
  }
  const blocked = store.put(["docs"], "b", { text: "forbidden" });
  await expect(blocked).rejects.toSatisfy((error) => isDroverError(error, "PII_BLOCKED"));
  expect(await everything()).not.toContain("secret");
});

it("encrypts values, and reads what older keys encrypted", async () => {
  const [old, newer] = [randomBytes(32), randomBytes(32)];
  const codec = createAesCodec({ keys: { old }, current: "old" });
  const before = openStore(redis, { tenant: "acme", codec });
  await before.put(["docs"], "a", { text: "planted-text" });
  await before.put(["docs"], "b", { text: "planted-text ".repeat(1000) });
  const after = openStore(redis, {
    tenant: "acme",
    codec: createAesCodec({ keys: { old, newer }, current: "newer" }),
  });
  await after.put(["docs"], "c", { text: "planted-text" });
  const found = await after.search(["docs"], { filter: { text: "planted-text" } });
  expect(found.map(({ key }) => key)).toEqual(["a", "c"]);
  expect(await everything()).not.toContain("planted-text");
  await expect(before.get(["docs"], "c")).rejects.toThrow("'newer'");
});
