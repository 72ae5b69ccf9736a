import { noUsage, RUN_STATUSES, type Transition } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFleetFigures } from "./fleet-figures.js";
import { encodePayload } from "./payload.js";
import { openState, type State } from "./state.js";
import { AGENTS, ref, request, success, taken, testState } from "./testing/runs.js";

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

/**
 * The transitions of a batch of four runs: one succeeds after a retry, one waits for a human, one is cancelled, one was
 * answered, and asks again.
 */
async function history(state: State): Promise<Transition[]> {
  const all: (Transition | null)[] = [];
  for (const id of ["a", "b", "c", "d"]) {
    const accepted = request({ batchId: "batch" });
    const admitted = await state.runs.admit(ref(id, id), accepted, encodePayload(accepted), id);
    all.push(admitted.transition);
  }
  const claim = async (id: string, seq = 1) => {
    const claimed = taken(await state.runs.claim(ref(id, id), seq, "w", AGENTS));
    all.push(claimed.transition);
    return claimed.lease;
  };
  const usage = { ...noUsage(), modelCalls: 2, inputTokens: 100 };
  const again = { what: "again", kind: "retry", delayMs: 0, error: null, spendsAttempt: true } as const;
  all.push(await state.runs.settle(await claim("a"), usage, again));
  all.push(await state.runs.settle(await claim("a", 2), usage, success));
  const interrupted = (...ids: string[]) => ({
    ...{ what: "interrupted" as const, checkpointId: "c" },
    approvals: ids.map((id) => ({
      ...{ approvalId: id, title: "post" },
      question: { interruptId: id, actions: null, value: null },
    })),
  });
  all.push(await state.runs.settle(await claim("b"), usage, interrupted("x")));
  all.push(await state.runs.settle(await claim("d"), noUsage(), interrupted("y", "z")));
  for (const id of ["y", "z"])
    all.push(await state.runs.resume(ref("d", "d"), id, { interruptId: id, value: 1, answer: { value: 1 } }));
  all.push(await state.runs.settle(await claim("d", 2), noUsage(), interrupted("last")));
  all.push((await state.runs.cancel(ref("c", "c"), { code: "CANCELLED", message: "no" })).transition);
  return all.filter((t): t is Transition => t !== null);
}

/** Everything that a reader of the indexes can see. */
async function picture(state: State): Promise<unknown> {
  await state.batches.open({ batchId: "batch", tenant: "default", agent: "clerk", metadata: {} });
  const { counts, total, usage } = await state.batches.get("batch", "default");
  return {
    batch: { counts, total, usage },
    lists: await Promise.all(
      RUN_STATUSES.map((status) => state.indexes.list({ tenant: "default", status, limit: 9 })),
    ),
    all: (await state.indexes.list({ tenant: "default", limit: 9 })).sort(),
    approvals: await state.redis.zrange(state.keys.index("approvals:default"), 0, "-1"),
    claims: await state.redis.smembers(state.keys.index("claims:w")),
    figures: await figuresOf(state),
    versions: await Promise.all(["a", "b", "c", "d"].map((id) => state.indexes.version(id))),
  };
}

/** What the fleet is measured by, without ages. */
async function figuresOf(state: State): Promise<unknown> {
  const { runs, waiting, approvals, deadRuns } = await readFleetFigures(state);
  return { runs, turn: waiting.turn, approvals, deadRuns };
}

describe("the indexes", () => {
  it("end in the same state whatever order transitions arrive in, and however often", async () => {
    const source = testState(server, "source");
    const transitions = await history(source);
    const inOrder = testState(server, "inorder");
    await inOrder.indexes.apply(transitions);
    const expected = await picture(inOrder);
    expect(expected).toMatchObject({
      batch: {
        total: 4,
        counts: { success: 1, interrupted: 2, cancelled: 1, pending: 0, running: 0 },
        usage: { modelCalls: 6, inputTokens: 300 },
      },
      approvals: expect.arrayContaining(["x", "last"]),
      figures: { runs: { success: 1, interrupted: 2, cancelled: 1, pending: 0 }, approvals: 2, deadRuns: 0 },
    });
    let n = 0;
    const orders = fc.shuffledSubarray(
      transitions.flatMap((t) => [t, t]),
      { minLength: transitions.length * 2 },
    );
    await fc.assert(
      fc.asyncProperty(orders, fc.integer({ min: 1, max: 5 }), async (order, size) => {
        n += 1;
        const state = testState(server, `random${n}`);
        for (let i = 0; i < order.length; i += size) await state.indexes.apply(order.slice(i, i + size));
        expect(await picture(state)).toEqual(expected);
        state.close();
      }),
      { numRuns: 60 },
    );
    source.close();
    inOrder.close();
  });

  it("tell news once, and forget a run in the figures too", async () => {
    const source = testState(server, "told");
    const transitions = await history(source);
    const news: string[] = [];
    const state = openState({
      redis: source.redis,
      prefix: "news",
      onNews: (t) => news.push(`${t.runId}${t.version}`),
    });
    await state.indexes.apply(transitions);
    await state.indexes.apply([...transitions, ...transitions]);
    expect(news).toEqual(transitions.map((t) => `${t.runId}${t.version}`));
    await Promise.all([state.indexes.forget("a"), state.indexes.forget("a")]);
    expect(await figuresOf(state)).toMatchObject({ runs: { success: 0, interrupted: 2 } });
    source.close();
  });

  it("know why runs wait, which batches are open and which runs were set aside", async () => {
    const state = testState(server, "waiting");
    await state.batches.open({ batchId: "b", tenant: "default", agent: "clerk", metadata: {} });
    const admit = async (thread: string, id: string, more: object) => {
      const accepted = request({ batchId: "b", ...more });
      return (await state.runs.admit(ref(thread, id), accepted, encodePayload(accepted), id)).transition;
    };
    const first = await admit("one", "first", {});
    await state.indexes.apply([
      first,
      await admit("one", "behind", {}),
      await admit("two", "later", { delayMs: 60_000 }),
    ]);
    const before = await readFleetFigures(state);
    expect(before).toMatchObject({
      runs: { pending: 3 },
      waiting: { ready: 1, delayed: 1, turn: 1, paused: 0 },
      batchesOpen: 1,
    });
    expect(before.oldestReadyAge).toBeLessThan(30);
    const set = await state.runs.fail(ref("one", "first"), { code: "AGENT_NOT_AVAILABLE", message: "gone" });
    await state.indexes.apply(set ? [set] : []);
    await state.batches.seal("b");
    expect(await readFleetFigures(state)).toMatchObject({ deadRuns: 1, batchesOpen: 1 });
    for (const [thread, id] of [
      ["one", "behind"],
      ["two", "later"],
    ] as const) {
      const { transition } = await state.runs.cancel(ref(thread, id), { code: "CANCELLED", message: "no" });
      await state.indexes.apply(transition ? [transition] : []);
    }
    expect(await readFleetFigures(state)).toMatchObject({
      batchesOpen: 0,
      runs: { pending: 0, cancelled: 2 },
    });
    state.close();
  });
});
