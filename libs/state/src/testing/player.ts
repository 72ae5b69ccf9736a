/**
 * One of two processes that want the same thing: `player.js <redis url> <prefix> <name>`, told by its parent what to
 * play. Commands leave together, as many rounds as fit; Redis alone decides who wins.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isDroverError, type Lease, noUsage, type RunEventData } from "@drover/contracts";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { RedisSaver } from "../checkpoints/redis-saver.js";
import { createCounters } from "../counters.js";
import { createEffects } from "../effects.js";
import { appendEvents } from "../event-log.js";
import type { Game, Report } from "./players.js";
import { AGENTS, approvalOf, ref, runOf, success, THREADS, testState } from "./runs.js";

const [url = "", prefix = "", name = ""] = process.argv.slice(2);
const state = testState({ url }, prefix);
const { redis, keys, runs, retention } = state;

const report: Report = { won: [], refused: 0, arrived: 0, epochs: [] };
/** Milliseconds that the other one is ahead after a round at most. */
const HEADSTART_MS = 4;

const games: Record<Game, (rounds: readonly number[]) => Promise<void>> = {
  thread,
  counter,
  interrupt,
  effect,
};

process.on("message", ({ game, from, to }: { game: Game; from: number; to: number }) => {
  Object.assign(report, { won: [], refused: 0, arrived: 0, epochs: [] });
  games[game](Array.from({ length: to - from }, (_, i) => from + i)).then(
    () => process.send?.(report),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    },
  );
});

/** One thread, whose lane holds a run for each round: who claims it writes and ends it, the other one tries to write. */
async function thread(rounds: readonly number[]): Promise<void> {
  for (const round of rounds) {
    const run = runOf(THREADS.thread, round);
    const names = keys.thread(run.tenant, run.threadId);
    let tried = false;
    for (;;) {
      const claimed = await runs.claim(run, 1, name, AGENTS);
      if (claimed.what === "claimed") {
        report.won.push(round);
        report.epochs.push(claimed.lease.epoch);
        await write(claimed.lease, round);
        await runs.settle(claimed.lease, noUsage(), success);
        await tryToWrite(claimed.lease, round);
        // Who won is the first to know that the next round begins.
        await sleep(Math.random() * HEADSTART_MS);
        break;
      }
      const [epoch, status] = await Promise.all([
        redis.hget(names.thread, "epoch"),
        redis.hget(names.run(run.runId), "status"),
      ]);
      // In the name of the winner's epoch.
      if (status !== "pending" && !tried) {
        tried = true;
        await tryToWrite({ ...run, seq: 1, epoch: Number(epoch), worker: name }, round);
      }
      if (status === "success") break;
    }
  }
}

async function write(lease: Lease, round: number): Promise<void> {
  const event: RunEventData = { type: "custom", data: `${name} ${round}`, attempt: 1, seq: 1 };
  const saver = new RedisSaver({ redis, keys, tenant: lease.tenant, lease });
  const config = { configurable: { thread_id: lease.threadId, checkpoint_ns: `${round}` } };
  await appendEvents(redis, keys, lease, [event], retention.eventsLength);
  await saver.put(config, emptyCheckpoint(), { source: "loop", step: round, parents: {} }, {});
}

async function tryToWrite(lease: Lease, round: number): Promise<void> {
  const event: RunEventData = { type: "custom", data: "late", attempt: 1, seq: 1 };
  const saver = new RedisSaver({ redis, keys, tenant: lease.tenant, lease });
  const config = { configurable: { thread_id: lease.threadId, checkpoint_ns: `late ${round}` } };
  const tries = await Promise.allSettled([
    appendEvents(redis, keys, lease, [event], retention.eventsLength),
    saver.put(config, emptyCheckpoint(), { source: "loop", step: round, parents: {} }, {}),
    createCounters(redis, keys, lease).take([{ scope: "thread", name: "late", limit: 1 }]),
  ]);
  for (const tried of tries) {
    if (tried.status === "rejected" && isDroverError(tried.reason, "LEASE_LOST")) report.refused += 1;
    else if (tried.status === "rejected") throw tried.reason;
    else report.arrived += 1;
  }
}

/** One counter. In round n its limit is n + 1: each unit goes to one of the two. */
async function counter(rounds: readonly number[]): Promise<void> {
  const counters = createCounters(redis, keys, await sharedLease(THREADS.counter));
  await Promise.all(
    rounds.map(async (round) => {
      const full = await counters.take([{ scope: "thread", name: "tools", limit: round + 1 }]);
      if (full === null) report.won.push(round);
      else report.refused += 1;
    }),
  );
}

/** One question for each round; both answer, each in its own name. */
async function interrupt(rounds: readonly number[]): Promise<void> {
  await Promise.all(
    rounds.map(async (round) => {
      const answer = { decisions: [{ type: "approve" as const }], decidedBy: name };
      try {
        await runs.resume(ref(`question ${round}`, `run-${round}`), approvalOf(round), {
          interruptId: "i",
          value: name,
          answer,
        });
        report.won.push(round);
      } catch (error) {
        if (!isDroverError(error, "APPROVAL_ANSWERED")) throw error;
        report.refused += 1;
      }
    }),
  );
}

/** One tool call for each round; both are told to make it. */
async function effect(rounds: readonly number[]): Promise<void> {
  const effects = createEffects(redis, keys, await sharedLease(THREADS.effect));
  await Promise.all(
    rounds.map(async (round) => {
      const claim = await effects.claim(`:call-${round}`);
      if (claim.state !== "claimed") {
        report.refused += 1;
        return;
      }
      report.won.push(round);
      await effects.commit(`:call-${round}`, name);
    }),
  );
}

/** The lease of a run that goes on: these games are about what two holders of one lease do to each other. */
async function sharedLease(threadId: string): Promise<Lease> {
  const run = runOf(threadId, 0);
  const [epoch, worker] = await redis.hmget(keys.thread(run.tenant, run.threadId).thread, "epoch", "holder");
  return { ...run, seq: 1, epoch: Number(epoch), worker: worker ?? "" };
}
