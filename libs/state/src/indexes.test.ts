import { noUsage, RUN_STATUSES, type Transition } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodePayload } from "./payload.js";
import type { State } from "./state.js";
import { AGENTS, ref, request, success, taken, testState } from "./testing/runs.js";

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

/** The transitions of a batch of three runs: one succeeds after a retry, one waits for a human, one is cancelled. */
async function history(state: State): Promise<Transition[]> {
  const all: (Transition | null)[] = [];
  for (const id of ["a", "b", "c"]) {
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
  const approvals = [{ approvalId: "x", title: "post", json: "{}" }];
  all.push(
    await state.runs.settle(await claim("b"), usage, { what: "interrupted", checkpointId: "c", approvals }),
  );
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
    claims: await state.redis.smembers(state.keys.index("claims:w")),
    versions: await Promise.all(["a", "b", "c"].map((id) => state.indexes.version(id))),
  };
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
        total: 3,
        counts: { success: 1, interrupted: 1, cancelled: 1, pending: 0, running: 0 },
        usage: { modelCalls: 6, inputTokens: 300 },
      },
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
});
