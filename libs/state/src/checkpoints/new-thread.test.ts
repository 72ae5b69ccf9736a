import type { Lease } from "@drover/contracts";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { afterAll, expect, it } from "vitest";
import { createKeys } from "../keys.js";
import { RedisSaver } from "./redis-saver.js";
import { startTestRedis } from "./testing/redis-servers.js";

const server = await startTestRedis();
afterAll(() => server.stop());
const keys = createKeys();

/** How often Redis was asked for checkpoints. */
async function loads(): Promise<number> {
  const stats = await server.redis.info("commandstats");
  return Number(/cmdstat_lrange:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

async function saverOf(threadId: string, isNewThread: boolean): Promise<RedisSaver> {
  const lease: Lease = { tenant: "acme", threadId, runId: "run", seq: 1, epoch: 1, worker: "w" };
  await server.redis.hset(keys.thread("acme", threadId).thread, { epoch: "1", holder: "w" });
  return new RedisSaver({ redis: server.redis, keys, tenant: "acme", lease, isNewThread });
}

const State = Annotation.Root({
  said: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** A step, and one in a subgraph that has checkpoints of its own. */
function graph(checkpointer: RedisSaver) {
  const inner = new StateGraph(State)
    .addNode("deep", () => ({ said: ["deep"] }))
    .addEdge("__start__", "deep")
    .compile({ checkpointer: true });
  return new StateGraph(State)
    .addNode("first", () => ({ said: ["first"] }))
    .addNode("inner", inner)
    .addEdge("__start__", "first")
    .addEdge("first", "inner")
    .compile({ checkpointer });
}

it("is not asked for checkpoints that it cannot have; the next run of the thread finds what this one wrote", async () => {
  const config = { configurable: { thread_id: "t" }, durability: "sync" as const };
  const before = await loads();
  const first = graph(await saverOf("t", true));
  const values = await first.invoke({ said: ["hello"] }, config);
  expect(await loads()).toBe(before);
  expect((await first.getState(config)).values).toEqual(values);

  const next = graph(await saverOf("t", false));
  expect(await next.invoke({ said: ["again"] }, config)).toMatchObject({
    said: expect.arrayContaining(["hello", "first", "deep", "again"]),
  });
  expect(await loads()).toBeGreaterThan(before);
});

it("is read as it is where a saver was told so in error: its first write finds out", async () => {
  const config = { configurable: { thread_id: "u" }, durability: "sync" as const };
  await graph(await saverOf("u", true)).invoke({ said: ["hello"] }, config);
  const wrong = graph(await saverOf("u", true));
  await wrong.invoke({ said: ["over"] }, config);
  const history = [];
  for await (const one of graph(await saverOf("u", false)).getStateHistory(config)) history.push(one);
  expect(history.some(({ values }) => values.said?.[0] === "hello")).toBe(true);
});
