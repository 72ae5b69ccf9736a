import { performance } from "node:perf_hooks";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Send } from "@langchain/langgraph";
import { type BaseCheckpointSaver, type CheckpointTuple, uuid6 } from "@langchain/langgraph-checkpoint";
import { Redis } from "ioredis";
import { createAgent } from "langchain";
import { z } from "zod";
import { createKeys } from "../keys.js";
import { RedisSaver } from "./redis-saver.js";
import { CountingMemorySaver } from "./testing/counting-memory-saver.js";
import { ScriptedModel } from "./testing/scripted-model.js";
import { startSlowProxy } from "./testing/slow-proxy.js";

export interface CheckpointFigures {
  /** Redis's own accounting (MEMORY USAGE) of the thread's keys. */
  bytes: number;
  /** What MemorySaver serialises for the same turns. */
  memorySaverBytes: number;
  serialTripsPerSuperstep: number;
  putP50Ms: number;
  /** Milliseconds for which the event loop was busy from the call of a put to its end. */
  blockingPutP95Ms: number;
  /** A cold load of the newest state by a new saver. */
  loadP50Ms: number;
}

const DELAY_MS = 20;
const LOADS = 15;
const PUTS = 200;
const PROXIED_TURNS = 8;

/** Measures a thread of an agent with createAgent's defaults: one tool call with a result of 1 KB a turn. */
export async function benchCheckpoints(
  redisUrl: string,
  turns: readonly number[] = [10, 100, 300],
): Promise<{ turns: Record<string, CheckpointFigures> }> {
  const redis = new Redis(redisUrl);
  const figures: Record<string, CheckpointFigures> = {};
  try {
    for (const count of turns) figures[count] = await measure(redis, count);
  } finally {
    redis.disconnect();
  }
  return { turns: figures };
}

async function measure(redis: Redis, turns: number): Promise<CheckpointFigures> {
  const tenant = `bench-${process.pid}-${Date.now()}`;
  const keys = createKeys();
  const saverOn = (client: Redis) => new RedisSaver({ redis: client, keys, tenant });
  const saver = saverOn(redis);
  for (let turn = 0; turn < turns; turn += 1) await takeTurn(saver, turn);
  const bytes = await memoryOf(redis, keys.thread(tenant, "t").base);
  const memory = new CountingMemorySaver();
  for (let turn = 0; turn < turns; turn += 1) await takeTurn(memory, turn);
  const loads: number[] = [];
  for (let i = 0; i < LOADS; i += 1) {
    const start = performance.now();
    await saverOn(redis).getTuple({ configurable: { thread_id: "t" } });
    loads.push(performance.now() - start);
  }
  const trips = await serialTrips(redis, saverOn, turns);
  const { wall, busy } = await measurePuts(saver, PUTS);
  await saver.deleteThread("t");
  return {
    bytes,
    memorySaverBytes: memory.bytes,
    serialTripsPerSuperstep: Math.round(trips * 100) / 100,
    putP50Ms: percentile(wall, 0.5),
    blockingPutP95Ms: percentile(busy, 0.95),
    loadP50Ms: percentile(loads, 0.5),
  };
}

/**
 * Wall time that the proxy added to a turn, in round trips, for each superstep. The load and the input count too. Of
 * several turns the fastest counts, since everything that disturbs makes a turn slower.
 */
async function serialTrips(
  redis: Redis,
  saverOn: (client: Redis) => RedisSaver,
  turns: number,
): Promise<number> {
  const { host = "127.0.0.1", port = 6379 } = redis.options;
  const proxy = await startSlowProxy({ host, port }, DELAY_MS);
  const slow = new Redis(proxy.port, "127.0.0.1");
  const roundTrip = (await pingMs(slow)) - (await pingMs(redis));
  const [direct, delayed] = [saverOn(redis), saverOn(slow)];
  const times = { direct: [] as number[], delayed: [] as number[] };
  for (let turn = turns; turn < turns + 2 * PROXIED_TURNS; turn += 1) {
    const isDirect = turn % 2 === 0;
    const start = performance.now();
    await takeTurn(isDirect ? direct : delayed, turn);
    times[isDirect ? "direct" : "delayed"].push(performance.now() - start);
  }
  slow.disconnect();
  await proxy.stop();
  let supersteps = 0;
  for await (const { metadata } of direct.list({ configurable: { thread_id: "t" } }, { limit: 20 })) {
    if (metadata?.source !== "loop") break;
    supersteps += 1;
  }
  return (Math.min(...times.delayed) - Math.min(...times.direct)) / roundTrip / supersteps;
}

/** The time of a round trip: timers are late, so that the proxy adds a little more than its delay. */
async function pingMs(client: Redis): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 20; i += 1) {
    const start = performance.now();
    await client.ping();
    times.push(performance.now() - start);
  }
  return percentile(times, 0.5);
}

const lookUp = tool(async ({ n }) => `${n}:${"r".repeat(1000)}`, {
  name: "look_up",
  description: "Looks something up.",
  schema: z.object({ n: z.number() }),
});

async function takeTurn(checkpointer: BaseCheckpointSaver, turn: number): Promise<void> {
  const model = new ScriptedModel((messages) =>
    messages.at(-1)?.getType() === "human"
      ? new AIMessage({
          content: "",
          tool_calls: [{ name: "look_up", args: { n: turn }, id: `call-${turn}`, type: "tool_call" }],
          response_metadata: {
            tokenUsage: { promptTokens: 900 + turn, completionTokens: 21, totalTokens: 921 + turn },
          },
        })
      : new AIMessage({ content: `The answer to question ${turn} is ${"a".repeat(120)}.` }),
  );
  const agent = createAgent({ model, tools: [lookUp], checkpointer });
  await agent.invoke(
    { messages: [new HumanMessage(`Question ${turn}: what is written in document ${turn * 7}?`)] },
    { configurable: { thread_id: "t" }, durability: "sync" },
  );
}

/**
 * Puts as a run makes them: a message more each time, and in every other one a Send with the whole state. Nothing
 * else runs in the process, so that what the event loop is busy with is the put.
 */
async function measurePuts(saver: RedisSaver, puts: number): Promise<{ wall: number[]; busy: number[] }> {
  const wall: number[] = [];
  const busy: number[] = [];
  let { checkpoint, config }: Pick<CheckpointTuple, "checkpoint" | "config"> = (await saver.getTuple({
    configurable: { thread_id: "t" },
  })) as CheckpointTuple;
  for (let i = 0; i < puts; i += 1) {
    const version = saver.getNextVersion(checkpoint.channel_versions.messages as string);
    const messages = [
      ...(checkpoint.channel_values.messages as unknown[]),
      new AIMessage({ content: `more ${i}`, id: `m${i}` }),
    ];
    const sends =
      i % 2 === 0 ? [] : [new Send("tools", { messages, lg_tool_call: { name: "look_up", args: { n: i } } })];
    checkpoint = {
      ...checkpoint,
      id: uuid6(i),
      channel_values: { ...checkpoint.channel_values, messages, __pregel_tasks: sends },
      channel_versions: { ...checkpoint.channel_versions, messages: version, __pregel_tasks: version },
    };
    await new Promise((resolve) => setTimeout(resolve, 1));
    const start = performance.now();
    const before = performance.eventLoopUtilization();
    const versions = { messages: version, __pregel_tasks: version };
    config = await saver.put(config, checkpoint, { source: "loop", step: i, parents: {} }, versions);
    busy.push(performance.eventLoopUtilization(before).active);
    wall.push(performance.now() - start);
  }
  return { wall, busy };
}

async function memoryOf(redis: Redis, base: string): Promise<number> {
  let bytes = 0;
  let cursor = "0";
  const pattern = `${base.replace(/[[\]*?\\]/g, "\\$&")}*`;
  do {
    const [next, found] = await redis.scan(cursor, "MATCH", pattern, "COUNT", 1000);
    cursor = next;
    for (const key of found) bytes += (await redis.memory("USAGE", key, "SAMPLES", 0)) ?? 0;
  } while (cursor !== "0");
  return bytes;
}

function percentile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0) * 100) / 100;
}
