import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type ErrorCode, isDroverError, noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import type { RunRef } from "@drover/state";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "./client.js";
import { expireApprovals } from "./expiry.js";
import { publish } from "./publisher.js";
import { settle } from "./settle.js";

/** ROUNDS=10000 for the long version. */
const ROUNDS = Number(process.env.ROUNDS ?? 200);
const AT_ONCE = 25;
/** Milliseconds for all rounds of a race. */
const LONGEST_MS = Math.max(120_000, ROUNDS * 150);

let server: RedisServer;
/** Two processes' worth of connections. */
let one: Client;
let two: Client;

beforeAll(async () => {
  server = await startRedis();
  const open = () => new Client({ redisUrl: server.url, prefix: "r", readAnswer: (_, answer) => answer });
  [one, two] = [open(), open()];
});
afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await server.stop();
});

const answer = (type: "approve" | "reject", decidedBy: string): Answer => ({
  decisions: [{ type }],
  decidedBy,
});

/** A run that waits for one decision, for `expiresMs`. */
async function waiting(expiresMs: number | null): Promise<{ run: RunRef; approvalId: string }> {
  const run = await one.enqueueRun({ agent: "clerk", input: "x" });
  const claimed = await one.state.runs.claim(run, 1, "w", { clerk: "1" });
  if (claimed.what !== "claimed") throw new Error(claimed.what);
  const transition = await settle(
    one.state,
    claimed.lease,
    { attempt: 1, maxAttempts: 1 },
    {
      kind: "interrupted",
      checkpointId: "c",
      usage: noUsage(),
      questions: [
        {
          interruptId: "i",
          value: null,
          actions: [{ name: "pay", args: {}, description: "", allowedDecisions: ["approve", "reject"] }],
          terms: { assignees: null, expiresMs, onExpire: "reject" },
        },
      ],
    },
  );
  if (!transition) throw new Error("not settled");
  await publish(one.state, one.queue, [claimed.transition, transition]);
  return { run, approvalId: transition.raised[0]?.approvalId ?? "" };
}

/** Whether it did it; which code it failed with. */
const tried = (act: Promise<unknown>): Promise<"done" | ErrorCode> =>
  act.then(
    () => "done",
    (error: unknown) => (isDroverError(error) ? error.code : Promise.reject(error)),
  );

/** What holds after any race: one activation, that only one worker can take, with the answer of the one that won. */
async function assertOneOutcome(run: RunRef): Promise<string> {
  const after = await one.state.reader.run(run);
  expect(after).toMatchObject({ status: "pending", seq: 2, kind: "resume" });
  const claims = await Promise.all(
    ["w1", "w2"].map((worker) => two.state.runs.claim(run, 2, worker, { clerk: "1" })),
  );
  const taken = claims.flatMap((claim) => (claim.what === "claimed" ? [claim] : []));
  expect(taken).toHaveLength(1);
  const [approval] = await one.state.reader.approvals(run);
  expect(taken[0]?.activation.resume?.values).toEqual({ i: approval?.answer });
  return approval?.audit?.door === "expiry" ? "expiry" : String(approval?.answer?.decidedBy);
}

async function rounds(play: (n: number) => Promise<string>): Promise<Record<string, number>> {
  const won: Record<string, number> = {};
  for (let n = 0; n < ROUNDS; n += AT_ONCE) {
    const winners = await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, ROUNDS - n) }, (_, i) => play(n + i)),
    );
    for (const winner of winners) won[winner] = (won[winner] ?? 0) + 1;
  }
  return won;
}

describe(`${ROUNDS} races for one approval have one outcome each`, { timeout: LONGEST_MS }, () => {
  it("approve against reject: the other is told who won", async () => {
    const won = await rounds(async (n) => {
      const { run, approvalId } = await waiting(null);
      const ada = () => one.decide(approvalId, answer("approve", "ada"));
      const bo = () => two.decide(approvalId, answer("reject", "bo"));
      // One connection may be busier than the other: each has a small start in turn.
      const [first, second] = n % 2 ? [ada, bo] : [bo, ada];
      const later = sleep(Math.random() * 6).then(() => tried(second()));
      const results = await Promise.all([tried(first()), later]);
      expect(results.sort()).toEqual(["APPROVAL_ANSWERED", "done"]);
      return assertOneOutcome(run);
    });
    expect(won.ada).toBeGreaterThan(0);
    expect(won.bo).toBeGreaterThan(0);
  });

  it("the same decision twice", async () => {
    await rounds(async () => {
      const { run, approvalId } = await waiting(null);
      const results = await Promise.all(
        [one, two].map((client) => tried(client.decide(approvalId, answer("approve", "ada")))),
      );
      expect(results.sort()).toEqual(["APPROVAL_ANSWERED", "done"]);
      return assertOneOutcome(run);
    });
  });

  it("approve against the end of its time", async () => {
    const won = await rounds(async () => {
      const { run, approvalId } = await waiting(800);
      const { expiresAt } = await one.approvals.get(approvalId);
      const left = (expiresAt ?? 0) - (await one.state.indexes.now());
      await new Promise((resolve) => setTimeout(resolve, left - 120 + Math.random() * 130));
      const expiring = async () => {
        for (;;) {
          await expireApprovals(two.state, two.queue, (_, a) => a, {
            now: await two.state.indexes.now(),
            limit: 1000,
            onExpired: () => {},
          });
          if ((await two.approvals.get(approvalId)).status !== "pending") return;
        }
      };
      const [result] = await Promise.all([
        tried(one.decide(approvalId, answer("approve", "ada"))),
        expiring(),
      ]);
      const winner = await assertOneOutcome(run);
      expect(result).toBe(winner === "expiry" ? "APPROVAL_EXPIRED" : "done");
      return winner;
    });
    expect(won.ada).toBeGreaterThan(0);
    expect(won.expiry).toBeGreaterThan(0);
  });
});
