/** What `rollback` takes back: everything that a run wrote to its thread, and nothing else. */
import { noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RedisSaver } from "./checkpoints/index.js";
import { encodePayload } from "./payload.js";
import type { RunRef } from "./run-store.js";
import { AGENTS, ref, request, success, taken, testState } from "./testing/runs.js";

let server: RedisServer;
let state: ReturnType<typeof testState>;

beforeAll(async () => {
  server = await startRedis();
  state = testState(server, "rollback");
});
afterAll(async () => {
  state.close();
  await server.stop();
});

const admit = async (run: RunRef, over = {}) => {
  const accepted = request(over);
  await state.runs.admit(run, accepted, encodePayload(accepted), run.runId);
};
const claim = async (run: RunRef, seq = 1) => taken(await state.runs.claim(run, seq, "w", AGENTS)).lease;
const saverOf = (lease?: Awaited<ReturnType<typeof claim>>) =>
  new RedisSaver({ redis: state.redis, keys: state.keys, tenant: "default", ...(lease ? { lease } : {}) });

let n = 0;
/** A checkpoint with a text that is a body, a list that becomes a range, and writes. */
async function write(saver: RedisSaver, threadId: string, namespace = ""): Promise<void> {
  n += 1;
  const head = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: namespace } });
  const list = Array.from({ length: 80 }, (_, i) => `${namespace}${n}-${i}`);
  const checkpoint: Checkpoint = {
    v: 4,
    id: `00000000-0000-0000-0000-${String(n).padStart(12, "0")}`,
    ts: new Date(n).toISOString(),
    channel_values: { text: `${n}`.repeat(300), list },
    channel_versions: { text: n, list: n },
    versions_seen: {},
  };
  const parent = head?.checkpoint.id;
  const config = {
    configurable: {
      ...{ thread_id: threadId, checkpoint_ns: namespace },
      ...(parent ? { checkpoint_id: parent } : {}),
    },
  };
  const put = await saver.put(config, checkpoint, { step: n } as unknown as CheckpointMetadata, {
    text: n,
    list: n,
  });
  await saver.putWrites(put, [["text", "w".repeat(300)]], `task${n}`);
}

/** Every checkpoint of every namespace, as somebody who reads the thread anew sees it. */
async function history(threadId: string, saver = saverOf()): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const namespace of ["", "sub", "new"]) {
    const config = { configurable: { thread_id: threadId, checkpoint_ns: namespace } };
    for await (const tuple of saver.list(config)) found.push(tuple);
    found.push(await saver.getTuple(config));
  }
  return found;
}

it("the thread is as it was before the run, for old readers too, and goes on from there", async () => {
  const [first, second, third] = ["a", "b", "c"].map((id) => ref("t", id)) as [RunRef, RunRef, RunRef];
  await admit(first);
  const lease = await claim(first);
  const saver = saverOf(lease);
  for (const namespace of ["", "sub", ""]) await write(saver, "t", namespace);
  await state.runs.settle(lease, noUsage(), success);
  const before = await history("t");

  await admit(second);
  const leaseOfSecond = await claim(second);
  const saverOfSecond = saverOf(leaseOfSecond);
  const reader = saverOf();
  for (const namespace of ["", "sub", "new", ""]) await write(saverOfSecond, "t", namespace);
  expect(await history("t", reader)).not.toEqual(before);
  await admit(third, { multitaskStrategy: "rollback" });
  // Whatever it comes to in this moment, it was replaced.
  expect(await state.runs.settle(leaseOfSecond, noUsage(), success)).toMatchObject({
    status: "cancelled",
    dispatch: { runId: "c" },
  });
  expect(await history("t")).toEqual(before);
  expect(await history("t", reader)).toEqual(before);
  await expect(write(saverOfSecond, "t")).rejects.toMatchObject({ code: "LEASE_LOST" });

  const leaseOfThird = await claim(third);
  await write(saverOf(leaseOfThird), "t");
  await state.runs.settle(leaseOfThird, noUsage(), success);
  const after = await history("t", reader);
  expect(after).toHaveLength(before.length + 1);
  expect(after.slice(2, 3)).toEqual(before.slice(1, 2));
  expect(await state.reader.run(second)).toMatchObject({ status: "cancelled", output: null });
});

it("a thread that was empty is empty; a crash and a question in between change nothing", async () => {
  const [first, second] = [ref("u", "d"), ref("u", "e")];
  await admit(first);
  await write(saverOf(await claim(first)), "u");
  await state.runs.takeover(first, "w");
  const lease = await claim(first, 2);
  await write(saverOf(lease), "u", "sub");
  const question = {
    approvalId: "x",
    title: "t",
    question: { interruptId: "i", actions: null, value: null },
  };
  await state.runs.settle(lease, noUsage(), {
    what: "interrupted",
    checkpointId: "c",
    approvals: [question],
  });
  await admit(second, { multitaskStrategy: "rollback" });
  expect(await state.reader.askedToStop(first)).toMatchObject({ run: { runId: "d" } });
  const { transition } = await state.runs.cancel(first, { code: "CANCELLED", message: "replaced" });
  expect(transition).toMatchObject({ status: "cancelled", closed: ["x"], dispatch: { runId: "e" } });
  expect(await state.redis.keys("rollback:{default/u}:cp*")).toEqual([]);
});
