import { noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { HumanMessage } from "@langchain/core/messages";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RedisSaver } from "./checkpoints/index.js";
import { putValues } from "./checkpoints/testing/puts.js";
import { connect } from "./connect.js";
import { createCounters, readCounters } from "./counters.js";
import { createEffects } from "./effects.js";
import { followEvents } from "./event-log.js";
import { encodePayload } from "./payload.js";
import { parseRetention } from "./retention.js";
import { openState, type State } from "./state.js";
import { Subscriptions } from "./subscriptions.js";
import { AGENTS, ref, request, success, taken, testState } from "./testing/runs.js";

let server: RedisServer;
let state: State & { close: () => void };
let n = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  state.close();
  await server.stop();
});
beforeEach(() => {
  state?.close();
  n += 1;
  state = testState(server, `keep${n}`);
});

const admit = (runId: string, over = {}) => {
  const accepted = request(over);
  return state.runs.admit(ref("t", runId), accepted, encodePayload(accepted), runId);
};

/** The seconds that each key of the thread still lives, by its name behind the thread's; -1: it does not expire. */
async function lives(): Promise<Record<string, number>> {
  const { base } = state.keys.thread("default", "t");
  const names = (await state.redis.keys(`${base}:*`)).sort();
  const left = await Promise.all(names.map((name) => state.redis.ttl(name)));
  return Object.fromEntries(names.map((name, i) => [name.slice(base.length + 1), left[i] ?? -2]));
}

const saverOf = (lease?: Parameters<typeof createCounters>[2]) =>
  new RedisSaver({
    redis: state.redis,
    keys: state.keys,
    tenant: "default",
    retentionSeconds: state.retention.threads,
    ...(lease ? { lease } : {}),
  });

/** A run of the thread that wrote checkpoints in two namespaces, took a unit and committed an effect. */
async function working(runId: string, seq = 1) {
  const { lease } = taken(await state.runs.claim(ref("t", runId), seq, "w", AGENTS));
  await putValues(saverOf(lease), { threadId: "t" }, { messages: [new HumanMessage(runId)] });
  await putValues(saverOf(lease), { threadId: "t", namespace: "child" }, { text: runId });
  await createCounters(state.redis, state.keys, lease).take([
    { scope: "thread", name: "tools", limit: 9 },
    { scope: "run", name: "model", limit: 9 },
  ]);
  const effects = createEffects(state.redis, state.keys, lease);
  await effects.claim(runId);
  await effects.commit(runId, "done");
  return lease;
}

const PARTS = ["cp", "cp:b", "cp:l:", "cp:l:child", "effects", "thread"];
const ask = {
  what: "interrupted" as const,
  checkpointId: "c",
  approvals: [{ approvalId: "a", title: "q", question: { interruptId: "i", actions: null, value: 1 } }],
};

describe("what a thread is made of", () => {
  it("does not expire while a run of it waits, and all at one time after its end", async () => {
    await admit("one");
    const lease = await working("one");
    const busy = await lives();
    expect(PARTS.filter((part) => !(part in busy))).toEqual([]);
    await state.runs.settle(lease, noUsage(), ask);
    for (const [part, left] of Object.entries(await lives()))
      if (part !== "outbox") expect([part, left]).toEqual([part, -1]);

    const answer = { interruptId: "i", value: 1, answer: { value: 1 } };
    await state.runs.resume(ref("t", "one"), "a", answer);
    await state.runs.settle(await working("one", 2), noUsage(), success);
    const after = await lives();
    for (const part of PARTS.filter((one) => one in after)) {
      expect([part, Math.abs((after[part] ?? 0) - state.retention.threads) < 5]).toEqual([part, true]);
    }
    expect(after["run:one"]).toBeGreaterThan(0);
    expect(await readCounters(state.redis, state.keys, ref("t", "one"))).toEqual({ model: 2 });
    expect(await readCounters(state.redis, state.keys, { tenant: "default", threadId: "t" })).toEqual({
      tools: 2,
    });

    // The next run keeps all of it again, also while it is only accepted.
    await admit("two", { delayMs: 86_400_000 });
    const kept = await lives();
    for (const part of PARTS.filter((one) => one in kept)) expect([part, kept[part]]).toEqual([part, -1]);
    // A run that ends without having written lets it go.
    await state.runs.cancel(ref("t", "two"), { code: "CANCELLED", message: "no" });
    for (const left of Object.values(await lives())) expect(left).toBeGreaterThan(0);
  });

  it("lives anew when its state is loaded", async () => {
    await admit("one");
    await state.runs.settle(await working("one"), noUsage(), success);
    const { base } = state.keys.thread("default", "t");
    const parts = Object.keys(await lives()).filter((part) => PARTS.includes(part));
    for (const part of parts) await state.redis.expire(`${base}:${part}`, 1000);
    await saverOf().getTuple({ configurable: { thread_id: "t" } });
    const after = await lives();
    for (const part of parts)
      expect([part, (after[part] ?? 0) > state.retention.threads - 5]).toEqual([part, true]);
  });
});

describe("a batch", () => {
  it("does not expire before its last run is over", async () => {
    const { indexes, batches } = state;
    const key = state.keys.index("batch:b");
    const left = () => Promise.all([key, `${key}:runs`].map((name) => state.redis.ttl(name)));
    await batches.open({ batchId: "b", tenant: "default", agent: "clerk", metadata: {} });
    expect(await state.redis.ttl(key)).toBeGreaterThan(0);
    await indexes.apply([(await admit("one", { batchId: "b" })).transition]);
    expect(await left()).toEqual([-1, -1]);
    const ended = await state.runs.settle(await working("one"), noUsage(), success);
    await indexes.apply(ended ? [ended] : []);
    expect(Math.min(...(await left()))).toBeGreaterThan(state.retention.batches - 60);
  });
});

describe("a user of Redis who may not copy keys", () => {
  it("ends runs all the same", async () => {
    await state.redis.call(
      "ACL",
      "SETUSER",
      "plain",
      "on",
      ">pass",
      "~*",
      "&*",
      "+@all",
      "-dump",
      "-restore",
    );
    const { host = "", port = 0 } = state.redis.options;
    const redis = connect({ url: `redis://plain:pass@${host}:${port}`, role: "worker" });
    const { runs, reader } = openState({ redis, prefix: state.keys.prefix });
    await admit("one");
    const { lease } = taken(await runs.claim(ref("t", "one"), 1, "w", AGENTS));
    await runs.settle(lease, noUsage(), success);
    expect(await reader.run(ref("t", "one"))).toMatchObject({ status: "success" });
    const { events } = state.keys.thread("default", "t");
    expect(await redis.xlen(events("one"))).toBe(2);
    redis.disconnect();
  });
});

describe("events of a run that are gone before it", () => {
  it("end who follows them", async () => {
    await admit("one");
    await state.runs.settle(await working("one"), noUsage(), success);
    await state.redis.del(state.keys.thread("default", "t").events("one"));
    const redis = connect({ url: server.url, role: "subscriber" });
    const events = followEvents(state.redis, state.keys, new Subscriptions(redis), ref("t", "one"));
    expect((await events.next()).done).toBe(true);
    redis.disconnect();
  });
});

describe("DROVER_RETENTION", () => {
  it("is read, and what is none is refused with what it may be", () => {
    expect(parseRetention("runs=7d, events=12h,threads=30s,repliesLength=500")).toEqual({
      runs: 604_800,
      events: 43_200,
      threads: 30,
      repliesLength: 500,
    });
    expect(parseRetention("")).toEqual({});
    for (const wrong of [
      "runs",
      "runs=0d",
      "runs=1w",
      "runs=7",
      "eventsLength=5s",
      "repliesLength=0",
      "x=1d",
    ])
      expect(() => parseRetention(wrong)).toThrow("is no time");
  });
});
