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

type Call = (...args: unknown[]) => Promise<unknown>;
const call: Call = (...args) => (server.redis as never as { evalshaBuffer: Call }).evalshaBuffer(...args);

/** Redis, behind which the first write meets what `first` does; and how many writes there were. */
function disturbed(first: Call): { redis: Redis; writes: () => number } {
  let writes = 0;
  const evalshaBuffer: Call = (...args) => {
    writes += 1;
    return writes === 1 ? first(...args) : call(...args);
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

/** The input's checkpoint and the first step's; with `isAlone` in a call each. */
async function firstStep(redis: Redis, threadId: string, isAlone: boolean) {
  const saver = new RedisSaver({ redis, keys, tenant: "t" });
  const put = (id: string, parent: object, metadata: { source: "input" | "loop"; step: number }) =>
    saver.put(
      { configurable: { thread_id: threadId, ...parent } },
      {
        ...{ v: 4, id, ts: new Date(0).toISOString(), versions_seen: {} },
        ...{ channel_values: { a: id }, channel_versions: { a: id } },
      } as never,
      { ...metadata, parents: {} },
      { a: id } as never,
    );
  const input = put("1", {}, { source: "input", step: -1 });
  if (isAlone) await new Promise((resolve) => setTimeout(resolve, 10));
  const at = { checkpoint_ns: "", checkpoint_id: "1" };
  const writes = saver.putWrites({ configurable: { thread_id: threadId, ...at } }, [["a", "x"]], "task");
  await input;
  const loop = put("2", at, { source: "loop", step: 0 });
  const before = await Promise.allSettled([writes, loop]);
  // One that comes when all of that is over.
  return [...before, ...(await Promise.allSettled([put("3", at, { source: "loop", step: 0 })]))];
}

const stored = async (threadId: string) =>
  (await listAll(new RedisSaver({ redis: server.redis, keys, tenant: "t" }), { thread_id: threadId })).map(
    ({ checkpoint }) => checkpoint.id,
  );

it("stores the input's checkpoint and the first step's in one call, before any node starts", async () => {
  const { redis, writes } = disturbed(call);
  const tuplesWhenStarted: number[] = [];
  const saver = new RedisSaver({ redis, keys, tenant: "t" });
  const graph = new StateGraph(State)
    .addNode("first", async () => {
      tuplesWhenStarted.push(writes());
      tuplesWhenStarted.push((await stored("one")).length);
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
  const { redis } = disturbed(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error("Connection is closed.");
  });
  const refused = { status: "rejected", reason: { code: "NO_REDIS" } };
  expect(await firstStep(redis, threadId, isAlone)).toMatchObject([refused, refused, refused]);
  expect(await stored(threadId)).toEqual([]);
});

it("stores an input once that was sent again after what followed it", async () => {
  const { redis } = disturbed(async (...args) => {
    await call(...args);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return call(...args);
  });
  expect(await firstStep(redis, "again", true)).toMatchObject(
    Array.from({ length: 3 }, () => ({ status: "fulfilled" })),
  );
  const newest = await new RedisSaver({ redis: server.redis, keys, tenant: "t" }).getTuple({
    configurable: { thread_id: "again" },
  });
  expect(newest?.checkpoint.id).toBe("3");
  expect(await stored("again")).toEqual(["3", "2", "1"]);
});
