import { DroverError, type Lease } from "@drover/contracts";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterAll, describe, expect, it } from "vitest";
import { connect } from "../connect.js";
import { createKeys } from "../keys.js";
import { assertJsonModules, jsonKeyStarts, jsonThreadName, openRedisJson } from "./redis-json.js";
import { startTestRedis } from "./testing/redis-servers.js";

const plain = await startTestRedis();
afterAll(() => plain.stop());

it("is refused on a server without the modules, and the error names them", async () => {
  const refused = await assertJsonModules(plain.redis).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DroverError);
  expect(refused).toMatchObject({
    code: "INVALID_CONFIG",
    message: expect.stringMatching(/no RedisJSON and no RediSearch/),
  });
  const options = { redis: plain.redis, keys: createKeys(), url: plain.url, retentionSeconds: 60 };
  await expect(openRedisJson(options)).rejects.toThrow("redis-json needs a Redis with");
});

it("gives each thread of each tenant a name that no other begins with", () => {
  const keys = createKeys();
  const threads = [
    { tenant: "a", threadId: "b" },
    { tenant: "a", threadId: "b:c" },
    { tenant: "a:b", threadId: "c" },
    { tenant: "a", threadId: "*" },
  ];
  expect(new Set(threads.map((thread) => jsonThreadName(keys, thread))).size).toBe(threads.length);
  for (const start of threads.flatMap((thread) => jsonKeyStarts(keys, thread)))
    expect(start).toMatch(/^[\w]+:[0-9a-f]{64}:$/);
});

const url = process.env.REDIS_JSON_URL;
if (url !== undefined) {
  describe("on a server that has the modules", () => {
    it("stores, lists and deletes a thread, and refuses who has lost it", async () => {
      const redis = connect({ url, role: "worker" });
      const keys = createKeys(`json-${process.pid}`);
      const json = await openRedisJson({ redis, keys, url, retentionSeconds: 600 });
      const lease: Lease = { tenant: "t", threadId: "x", runId: "r", seq: 1, epoch: 2, worker: "w" };
      await redis.hset(keys.thread("t", "x").thread, "epoch", 2, "holder", "w");
      const config = { configurable: { thread_id: "x", checkpoint_ns: "" } };
      const metadata = { source: "loop", step: 1, parents: {} } as const;
      const saver = json.saverOf("t", lease);
      const stored = await saver.put(config, emptyCheckpoint(), metadata, {});
      expect(stored.configurable?.thread_id).toBe("x");
      expect((await saver.getTuple(config))?.config.configurable?.thread_id).toBe("x");
      expect(await json.saverOf("other").getTuple(config)).toBeUndefined();
      const old = json.saverOf("t", { ...lease, epoch: 1 });
      await expect(old.put(config, emptyCheckpoint(), metadata, {})).rejects.toMatchObject({
        code: "LEASE_LOST",
      });
      await saver.deleteThread("x");
      expect(await saver.getTuple(config)).toBeUndefined();
      await redis.del(keys.thread("t", "x").thread);
      await json.close();
      redis.disconnect();
    });
  });
}
