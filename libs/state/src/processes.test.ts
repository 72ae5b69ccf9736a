import { noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RedisSaver } from "./checkpoints/index.js";
import { createEffects } from "./effects.js";
import { encodePayload } from "./payload.js";
import type { State } from "./state.js";
import { type Game, type Player, type Report, startPlayer } from "./testing/players.js";
import { AGENTS, approvalOf, ref, request, runOf, THREADS, taken, testState } from "./testing/runs.js";

/** ROUNDS=10000 for the long version. */
const ROUNDS = Number(process.env.ROUNDS ?? 500);
/** Rounds that both processes are sent into at once. */
const AT_ONCE = 25;
const MINUTES = 60_000;

let server: RedisServer;
let state: State & { close: () => void };
let players: readonly Player[];

beforeAll(async () => {
  server = await startRedis();
  state = testState(server, "duel");
  players = ["ada", "bo"].map((name) => startPlayer(server.url, "duel", name));
});
afterAll(async () => {
  for (const player of players) player.stop();
  state.close();
  await server.stop();
});

async function admit(threadId: string, round: number): Promise<void> {
  const accepted = request();
  await state.runs.admit(runOf(threadId, round), accepted, encodePayload(accepted), `${round}`);
}

const upTo = (from: number): number => Math.min(from + AT_ONCE, ROUNDS);

async function inPages(each: (round: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < ROUNDS; from += AT_ONCE)
    await Promise.all(Array.from({ length: upTo(from) - from }, (_, i) => each(from + i)));
}

/** Both at once, a page of rounds after the other. Gives each one's report of all. */
async function duel(game: Game, atOnce = AT_ONCE): Promise<Report[]> {
  const reports = players.map((): Report => ({ won: [], refused: 0, arrived: 0, epochs: [] }));
  for (let from = 0; from < ROUNDS; from += atOnce) {
    // Each goes first as often as the other.
    const order = (from / atOnce) % 2 === 0 ? [0, 1] : [1, 0];
    const play = async (i: number) => {
      const page = await players[i]?.play(game, from, Math.min(from + atOnce, ROUNDS));
      const all = reports[i];
      if (!page || !all) return;
      all.won.push(...page.won);
      all.epochs.push(...page.epochs);
      all.refused += page.refused;
      all.arrived += page.arrived;
    };
    await Promise.all(order.map(play));
  }
  const [ada, bo] = reports.map(({ won, refused }) => ({ won: won.length, refused }));
  process.stdout.write(`${game}, ${ROUNDS} rounds: ${JSON.stringify({ ada, bo })}\n`);
  return reports;
}

function assertOneWinnerEach(reports: readonly Report[]): void {
  const won = reports.flatMap((report) => report.won).sort((a, b) => a - b);
  expect(won).toEqual(Array.from({ length: ROUNDS }, (_, round) => round));
  for (const report of reports) expect(report.won.length).toBeGreaterThan(0);
}

describe(`two processes, ${ROUNDS} rounds: one winner each time`, () => {
  it(
    "one thread: who claims it writes, and nobody else",
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) await admit(THREADS.thread, round);
      const reports = await duel("thread", ROUNDS);
      assertOneWinnerEach(reports);
      expect(reports.map(({ arrived }) => arrived)).toEqual([0, 0]);
      expect(reports[0]?.refused).toBeGreaterThan(0);

      const winners = new Map(reports.flatMap(({ won }, i) => won.map((round) => [round, ["ada", "bo"][i]])));
      await inPages(async (round) => {
        const { events } = state.keys.thread("default", THREADS.thread);
        const told = (await state.redis.xrange(events(runOf(THREADS.thread, round).runId), "-", "+")).map(
          ([, fields]) => JSON.parse(fields[1] ?? "") as { type: string; status?: string; data?: string },
        );
        expect(told.map(({ status, data }) => status ?? data)).toEqual([
          "running",
          `${winners.get(round)} ${round}`,
          "success",
        ]);
      });
      const epochs = reports.flatMap(({ won, epochs: of }) =>
        won.map((round, i) => [round, of[i] ?? 0] as const),
      );
      const inOrder = epochs.sort(([a], [b]) => a - b).map(([, epoch]) => epoch);
      expect(inOrder.every((epoch, i) => i === 0 || epoch > (inOrder[i - 1] ?? 0))).toBe(true);
      const saver = new RedisSaver({ redis: state.redis, keys: state.keys, tenant: "default" });
      const namespaces = new Set<string>();
      for await (const { config } of saver.list({ configurable: { thread_id: THREADS.thread } }))
        namespaces.add(String(config.configurable?.checkpoint_ns));
      expect([...namespaces].filter((namespace) => namespace.startsWith("late"))).toEqual([]);
      expect(namespaces.size).toBe(ROUNDS);
    },
    20 * MINUTES,
  );

  it(
    "one counter: each unit is taken once",
    async () => {
      await admit(THREADS.counter, 0);
      taken(await state.runs.claim(runOf(THREADS.counter, 0), 1, "w", AGENTS));
      assertOneWinnerEach(await duel("counter"));
      const { thread } = state.keys.thread("default", THREADS.counter);
      expect(await state.redis.hget(thread, "count:tools")).toBe(String(ROUNDS));
    },
    10 * MINUTES,
  );

  it(
    "one interrupt: the first answer holds",
    async () => {
      await inPages(async (round) => {
        const run = ref(`question ${round}`, `run-${round}`);
        const accepted = request();
        await state.runs.admit(run, accepted, encodePayload(accepted), `${round}`);
        const { lease } = taken(await state.runs.claim(run, 1, "w", AGENTS));
        const question = { interruptId: "i", actions: null, value: "?" };
        await state.runs.settle(lease, noUsage(), {
          what: "interrupted",
          checkpointId: "c",
          approvals: [{ approvalId: approvalOf(round), title: "question", question }],
        });
      });
      const reports = await duel("interrupt");
      assertOneWinnerEach(reports);
      const byName = { ada: reports[0]?.won ?? [], bo: reports[1]?.won ?? [] };
      for (const [name, won] of Object.entries(byName)) {
        const answers = await Promise.all(
          won.map((round) =>
            state.reader.approval(ref(`question ${round}`, `run-${round}`), approvalOf(round)),
          ),
        );
        expect(new Set(answers.map(({ answer }) => answer?.decidedBy))).toEqual(new Set([name]));
      }
    },
    10 * MINUTES,
  );

  it(
    "one effect: it is started once, and its result is the winner's",
    async () => {
      await admit(THREADS.effect, 0);
      const { lease } = taken(await state.runs.claim(runOf(THREADS.effect, 0), 1, "w", AGENTS));
      const reports = await duel("effect");
      assertOneWinnerEach(reports);
      const effects = createEffects(state.redis, state.keys, lease);
      const winners = new Map(reports.flatMap(({ won }, i) => won.map((round) => [round, ["ada", "bo"][i]])));
      await inPages(async (round) => {
        expect(await effects.claim(`:call-${round}`)).toEqual({
          state: "committed",
          result: winners.get(round),
        });
      });
    },
    10 * MINUTES,
  );
});
