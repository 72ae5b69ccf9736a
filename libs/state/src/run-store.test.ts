import { isDroverError, noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCounters } from "./counters.js";
import { createEffects } from "./effects.js";
import { appendEvents } from "./event-log.js";
import { encodePayload } from "./payload.js";
import type { State } from "./state.js";
import { AGENTS, ref, request, success, taken, testState } from "./testing/runs.js";

let server: RedisServer;
let state: State & { close: () => void };
let n = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => {
  state?.close();
  n += 1;
  state = testState(server, `t${n}`);
});

const code = (wanted: string) => (error: unknown) => isDroverError(error) && error.code === wanted;
const admit = (threadId: string, runId: string, over = {}) => {
  const accepted = request(over);
  return state.runs.admit(ref(threadId, runId), accepted, encodePayload(accepted), runId);
};
const claim = (threadId: string, runId: string, seq = 1, worker = "w1") =>
  state.runs.claim(ref(threadId, runId), seq, worker, AGENTS);

describe("a thread's lane", () => {
  it("starts its runs in the order of acceptance, one at a time", async () => {
    const first = await admit("t", "a");
    const second = await admit("t", "b");
    const third = await admit("t", "c");
    expect(first.transition.dispatch?.runId).toBe("a");
    expect(second.transition.dispatch).toBeNull();
    expect(third.transition.dispatch).toBeNull();
    expect((await claim("t", "b")).what).toBe("stale");

    const a = taken(await claim("t", "a"));
    const ended = await state.runs.settle(a.lease, noUsage(), success);
    expect(ended?.dispatch).toMatchObject({ runId: "b", seq: 1, delivery: 1 });
    const b = taken(await claim("t", "b"));
    expect((await state.runs.settle(b.lease, noUsage(), success))?.dispatch?.runId).toBe("c");
  });

  it("is held by a run that backs off", async () => {
    await admit("t", "a");
    await admit("t", "b");
    const a = taken(await claim("t", "a"));
    const again = await state.runs.settle(a.lease, noUsage(), {
      what: "again",
      kind: "retry",
      delayMs: 50,
      error: null,
      spendsAttempt: true,
    });
    expect(again?.dispatch).toMatchObject({ runId: "a", seq: 2, delayMs: 50 });
    expect((await claim("t", "b")).what).toBe("stale");
    expect(taken(await claim("t", "a", 2)).activation).toMatchObject({ attempt: 2, kind: "retry", seq: 2 });
  });

  it("lets a waiting run be cancelled without touching the others", async () => {
    await admit("t", "a");
    await admit("t", "b");
    await admit("t", "c");
    const cancelled = await state.runs.cancel(ref("t", "b"), {
      code: "CANCELLED",
      message: "no longer needed",
    });
    expect(cancelled.transition).toMatchObject({ status: "cancelled", dispatch: null });
    const a = taken(await claim("t", "a"));
    expect((await state.runs.settle(a.lease, noUsage(), success))?.dispatch?.runId).toBe("c");
  });

  it("refuses a run where the caller asked for that", async () => {
    await admit("t", "a");
    await expect(admit("t", "b", { multitaskStrategy: "reject" })).rejects.toSatisfy(code("THREAD_BUSY"));
  });
});

describe("a claim", () => {
  it("is given once per activation", async () => {
    await admit("t", "a");
    const claims = await Promise.all(Array.from({ length: 20 }, (_, i) => claim("t", "a", 1, `w${i}`)));
    expect(claims.filter((c) => c.what === "claimed")).toHaveLength(1);
  });

  it("leaves a run of an agent that the worker lacks", async () => {
    await admit("t", "a", { agent: "other" });
    expect(await claim("t", "a")).toEqual({ what: "elsewhere", agent: "other" });
  });

  it("carries the input as it was given", async () => {
    const input = { messages: [{ role: "user", content: "日本 \u0000 é" }], empty: [], n: 1.5 };
    await admit("t", "a", { input, context: { when: { $date: "2026-08-31T00:00:00.000Z" } } });
    const { activation } = taken(await claim("t", "a"));
    expect(activation.input).toEqual(input);
    expect(activation.context).toEqual({ when: { $date: "2026-08-31T00:00:00.000Z" } });
  });
});

describe("a lease that was taken over", () => {
  it("refuses every write of the old worker, and an epoch only grows", async () => {
    await admit("t", "a");
    const old = taken(await claim("t", "a"));
    const { taken: took, transitions } = await state.runs.takeover(ref("t", "a"), "w1");
    expect(took).toBe(true);
    expect(transitions.at(-1)).toMatchObject({ status: "pending", dispatch: { seq: 2 } });
    const fresh = taken(await claim("t", "a", 2, "w2"));
    expect(fresh.lease.epoch).toBeGreaterThan(old.lease.epoch);
    expect(fresh.activation.attempt).toBe(1);

    const lost = code("LEASE_LOST");
    const { redis, keys } = state;
    await expect(state.runs.settle(old.lease, noUsage(), success)).rejects.toSatisfy(lost);
    await expect(
      createCounters(redis, keys, old.lease).take([{ scope: "run", name: "model", limit: 5 }]),
    ).rejects.toSatisfy(lost);
    const effects = createEffects(redis, keys, old.lease);
    await expect(effects.claim("e")).rejects.toSatisfy(lost);
    await expect(effects.commit("e", 1)).rejects.toSatisfy(lost);
    await expect(
      appendEvents(redis, keys, old.lease, [{ type: "custom", data: 1, attempt: 1, seq: 1 }], 100),
    ).rejects.toSatisfy(lost);
    expect((await state.reader.run(ref("t", "a")))?.status).toBe("running");
    await state.runs.settle(fresh.lease, noUsage(), success);
  });

  it("holds even where Redis forgot the epoch", async () => {
    await admit("t", "a");
    const old = taken(await claim("t", "a"));
    await state.redis.hdel(state.keys.thread("default", "t").thread, "epoch", "holder");
    await state.redis.hset(state.keys.thread("default", "t").run("a"), "status", "pending");
    const fresh = taken(await claim("t", "a", 1, "w2"));
    expect(fresh.lease.epoch).toBeGreaterThanOrEqual(old.lease.epoch);
    await expect(state.runs.settle(old.lease, noUsage(), success)).rejects.toSatisfy(code("LEASE_LOST"));
  });

  it("sets a run aside of which three workers died, once it was alone on one of them", async () => {
    await admit("t", "a");
    await admit("t", "b");
    const dies = async (seq: number, { isAlone = false, died = true } = {}) => {
      const { lease, mustBeAlone } = taken(await claim("t", "a", seq, `w${seq}`));
      if (isAlone) await state.runs.noteAlone(lease);
      await state.runs.takeover(ref("t", "a"), `w${seq}`, died);
      await expect(state.runs.noteAlone(lease)).rejects.toSatisfy(code("LEASE_LOST"));
      return mustBeAlone;
    };
    expect([await dies(1, { isAlone: true }), await dies(2), await dies(3)]).toEqual([false, false, true]);
    expect(await dies(4, { isAlone: true, died: false })).toBe(true);
    expect(await state.reader.run(ref("t", "a"))).toMatchObject({ status: "pending", crashes: 3 });
    await dies(5, { isAlone: true });
    expect(await state.reader.run(ref("t", "a"))).toMatchObject({
      status: "error",
      crashes: 4,
      error: { code: "POISONED" },
    });
    expect((await claim("t", "b")).what).toBe("claimed");
  });
});

describe("settling", () => {
  it("happens once", async () => {
    await admit("t", "a");
    const { lease } = taken(await claim("t", "a"));
    const ended = await state.runs.settle(lease, { ...noUsage(), modelCalls: 3 }, success);
    expect(ended?.status).toBe("success");
    // Told again until it is published: the first reply may have been lost.
    expect(await state.runs.settle(lease, { ...noUsage(), modelCalls: 3 }, success)).toEqual(ended);
    if (ended) await state.runs.acknowledge(ended);
    expect(await state.runs.settle(lease, { ...noUsage(), modelCalls: 3 }, success)).toBeNull();
    expect(await state.reader.run(ref("t", "a"))).toMatchObject({
      output: { answer: 42 },
      endedBy: "completed",
      usage: { modelCalls: 3 },
    });
  });

  it("ends a run as cancelled that was asked to stop and did not finish", async () => {
    await admit("t", "a");
    const { lease } = taken(await claim("t", "a"));
    expect((await state.runs.cancel(ref("t", "a"), { code: "CANCELLED", message: "stop" })).worker).toBe(
      "w1",
    );
    const again = { what: "again", kind: "handover", delayMs: 0, error: null, spendsAttempt: false } as const;
    expect((await state.runs.settle(lease, noUsage(), again))?.status).toBe("cancelled");
  });
});

describe("an approval", () => {
  const asked = (ids: string[]) => ({
    what: "interrupted" as const,
    checkpointId: "c1",
    approvals: ids.map((approvalId) => ({
      approvalId,
      title: "post",
      question: { interruptId: `i-${approvalId}`, actions: null, value: [] },
    })),
  });
  const answer = (id: string, value: unknown) => ({
    interruptId: `i-${id}`,
    value,
    answer: { value },
    at: 2,
  });

  it("holds no lease, keeps its lane, and resumes with its answer, once", async () => {
    await admit("t", "a");
    await admit("t", "b");
    const { lease } = taken(await claim("t", "a"));
    const raised = await state.runs.settle(lease, noUsage(), asked(["x"]));
    expect(raised).toMatchObject({ status: "interrupted", raised: [{ approvalId: "x" }], dispatch: null });
    expect((await claim("t", "b")).what).toBe("stale");
    const answered = await state.runs.resume(ref("t", "a"), "x", answer("x", { ok: [], big: 12345678901 }));
    expect(answered).toMatchObject({ closed: ["x"], dispatch: { seq: 2 } });
    await expect(state.runs.resume(ref("t", "a"), "x", answer("x", 2))).rejects.toSatisfy(
      code("APPROVAL_ANSWERED"),
    );
    const resumed = taken(await claim("t", "a", 2));
    expect(resumed.activation.resume).toEqual({
      checkpointId: "c1",
      values: { "i-x": { ok: [], big: 12345678901 } },
    });
  });

  it("goes on only when all that wait are answered", async () => {
    await admit("t", "a");
    const { lease } = taken(await claim("t", "a"));
    await state.runs.settle(lease, noUsage(), asked(["x", "y"]));
    expect((await state.runs.resume(ref("t", "a"), "y", answer("y", 1)))?.dispatch).toBeNull();
    expect((await state.reader.approvals(ref("t", "a"))).map((a) => a.status)).toEqual([
      "pending",
      "answered",
    ]);
    expect((await state.runs.resume(ref("t", "a"), "x", answer("x", 2)))?.dispatch?.seq).toBe(2);
    const { activation } = taken(await claim("t", "a", 2));
    expect(activation.resume?.values).toEqual({ "i-x": 2, "i-y": 1 });
  });

  it("keeps its answer over a crash of the worker that resumes", async () => {
    await admit("t", "a");
    const { lease } = taken(await claim("t", "a"));
    await state.runs.settle(lease, noUsage(), asked(["x"]));
    await state.runs.resume(ref("t", "a"), "x", answer("x", "yes"));
    taken(await claim("t", "a", 2));
    await state.runs.takeover(ref("t", "a"), "w1");
    expect(taken(await claim("t", "a", 3, "w2")).activation.resume?.values).toEqual({ "i-x": "yes" });
  });

  it("is unknown, or closed with its run", async () => {
    await admit("t", "a");
    const { lease } = taken(await claim("t", "a"));
    await state.runs.settle(lease, noUsage(), asked(["x"]));
    await expect(state.runs.resume(ref("t", "a"), "z", answer("z", 1))).rejects.toSatisfy(
      code("UNKNOWN_APPROVAL"),
    );
    const { transition } = await state.runs.cancel(ref("t", "a"), { code: "CANCELLED", message: "stop" });
    expect(transition?.closed).toEqual(["x"]);
    await expect(state.runs.resume(ref("t", "a"), "x", answer("x", 1))).rejects.toSatisfy(
      code("ILLEGAL_TRANSITION"),
    );
  });
});

describe("limits and effects", () => {
  it("take exactly as many units as the limit allows, whoever asks", async () => {
    await admit("t", "a");
    const { lease } = taken(await claim("t", "a"));
    const counters = createCounters(state.redis, state.keys, lease);
    const limits = [
      { scope: "run", name: "model", limit: 3 },
      { scope: "thread", name: "model", limit: 5 },
    ] as const;
    const replies = await Promise.all(Array.from({ length: 10 }, () => counters.take(limits)));
    expect(replies.filter((r) => r === null)).toHaveLength(3);
    expect(replies.filter((r) => r === "run:model")).toHaveLength(7);
  });

  it("start an effect once and replay its result", async () => {
    await admit("t", "a");
    const { lease } = taken(await claim("t", "a"));
    const effects = createEffects(state.redis, state.keys, lease);
    expect(await effects.claim("e")).toEqual({ state: "claimed" });
    expect(await effects.claim("e")).toMatchObject({ state: "unknown" });
    await effects.commit("e", { id: 7, list: [] });
    expect(await effects.claim("e")).toEqual({ state: "committed", result: { id: 7, list: [] } });
    await effects.claim("f");
    await effects.release("f");
    expect(await effects.claim("f")).toEqual({ state: "claimed" });
  });
});

describe("an operator's retry", () => {
  it("reopens one without its deadline, also where the indexes hear of its end too late", async () => {
    const run = ref("late", "late");
    const accepted = request({ deadlineMs: 60_000 });
    const { transition } = await state.runs.admit(run, accepted, encodePayload(accepted), "late");
    await state.indexes.apply([transition]);
    const ended = await state.runs.cancel(run, { code: "CANCELLED", message: "no" });
    const again = await state.runs.reopen(run);
    await state.indexes.apply([again, ended.transition].filter((t) => t !== null));
    expect(await state.redis.zcard(state.keys.index("deadlines"))).toBe(0);
  });

  it("reopens a failed run at the end of its lane, and no other", async () => {
    await admit("t", "a");
    const { lease } = taken(await claim("t", "a"));
    const failed = { code: "MODEL_ERROR", message: "no" } as const;
    await state.runs.settle(lease, noUsage(), {
      ...success,
      status: "error",
      endedBy: "error",
      error: failed,
    });
    const reopened = await state.runs.reopen(ref("t", "a"));
    expect(reopened).toMatchObject({ status: "pending", dispatch: { seq: 2 } });
    const again = taken(await claim("t", "a", 2));
    expect(again.activation).toMatchObject({ kind: "retry", attempt: 2 });
    await state.runs.settle(again.lease, noUsage(), success);
    expect(await state.reader.run(ref("t", "a"))).toMatchObject({ status: "success", error: null });
    await expect(state.runs.reopen(ref("t", "a"))).rejects.toSatisfy(code("ILLEGAL_TRANSITION"));
  });
});
