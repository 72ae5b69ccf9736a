import { Annotation, StateGraph } from "@langchain/langgraph";
import type { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";
import { createKeys } from "../keys.js";
import { RedisSaver } from "./redis-saver.js";
import { listAll } from "./testing/puts.js";
import { startTestRedis } from "./testing/redis-servers.js";

const server = await startTestRedis();
afterAll(() => server.stop());
const keys = createKeys();

const State = Annotation.Root({
  said: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Redis, where the writes of these numbers, counted from 1, never arrive; and how many there were. */
function losing(numbers: readonly number[]): { redis: Redis; writes: () => number } {
  let writes = 0;
  const evalshaBuffer = async (...args: unknown[]) => {
    writes += 1;
    if (!numbers.includes(writes))
      return (server.redis as never as Record<string, Call>).evalshaBuffer?.(...args);
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error("Connection is closed.");
  };
  const redis = new Proxy(server.redis, {
    get: (target, name) => {
      if (name === "evalshaBuffer") return evalshaBuffer;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { redis, writes: () => writes };
}
type Call = (...args: unknown[]) => Promise<unknown>;

it("stores the input's checkpoint and the first step's in one call, before any node starts", async () => {
  const { redis, writes } = losing([]);
  const tuplesWhenStarted: number[] = [];
  const saver = new RedisSaver({ redis, keys, tenant: "t" });
  const graph = new StateGraph(State)
    .addNode("first", async () => {
      tuplesWhenStarted.push(writes());
      const stored = await listAll(new RedisSaver({ redis: server.redis, keys, tenant: "t" }), {
        thread_id: "one",
      });
      tuplesWhenStarted.push(stored.length);
      return { said: ["first"] };
    })
    .addEdge("__start__", "first")
    .compile({ checkpointer: saver });
  await graph.invoke({ said: ["hello"] }, { configurable: { thread_id: "one" }, durability: "sync" });
  expect(tuplesWhenStarted).toEqual([1, 2]);
});

it.each([
  ["in the same call", false],
  ["in a call before it", true],
])("stores nothing on top of an input that was lost, %s", async (_, isAlone) => {
  const threadId = `lost-${isAlone}`;
  const { redis } = losing([1]);
  const saver = new RedisSaver({ redis, keys, tenant: "t" });
  const config = { configurable: { thread_id: threadId } };
  const checkpoint = (id: string) => ({
    ...{ v: 4, id, ts: new Date(0).toISOString(), channel_values: { a: id }, channel_versions: { a: id } },
    versions_seen: {},
  });
  const versions = { a: "1" };
  const input = saver.put(
    config,
    checkpoint("1"),
    { source: "input", step: -1, parents: {} },
    versions as never,
  );
  if (isAlone) await new Promise((resolve) => setTimeout(resolve, 10));
  const parent = { configurable: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: "1" } };
  const writes = saver.putWrites(parent, [["a", "x"]], "task");
  await input;
  const loop = saver.put(
    parent,
    checkpoint("2"),
    { source: "loop", step: 0, parents: {} },
    versions as never,
  );
  const [written, looped] = await Promise.allSettled([writes, loop]);
  expect(written).toMatchObject({ reason: { code: "NO_REDIS" } });
  expect(looped).toMatchObject({ reason: { code: "NO_REDIS" } });
  expect(
    await listAll(new RedisSaver({ redis: server.redis, keys, tenant: "t" }), { thread_id: threadId }),
  ).toEqual([]);
});
