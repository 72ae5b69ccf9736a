import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { createKeys } from "../keys.js";
import { RedisSaver } from "./redis-saver.js";
import { agentOn, takeTurn, turns } from "./testing/random-agent.js";
import { compileGraph, steps, takeStep } from "./testing/random-graph.js";
import { startTestRedis } from "./testing/redis-servers.js";
import { expectSameHistory, expectSameStates, TeeSaver } from "./testing/tee-saver.js";

const server = await startTestRedis();
afterAll(() => server.stop());
const open = () => new RedisSaver({ redis: server.redis, keys: createKeys(), tenant: "acme" });

/** DROVER_SEED repeats a run. */
const seed = Number(process.env.DROVER_SEED ?? Date.now() % 2 ** 31);

/** DROVER_RUNS tries more. */
const numRuns = Number(process.env.DROVER_RUNS ?? 8);
const limits = { seed, numRuns };
let threads = 0;

function nextThread(): string {
  threads += 1;
  return `thread ${threads}`;
}

it(
  `has the history that MemorySaver has, over random graphs (seed ${seed})`,
  async () => {
    console.log(`history-property seed: ${seed}`);
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const threadId = nextThread();
        const tee = new TeeSaver(open());
        const graph = compileGraph(tee);
        for (const step of all) {
          await takeStep(graph, threadId, step);
          if (step.step !== "reopen") continue;
          compared += await expectSameHistory(tee.memory, tee.redis, threadId);
          tee.redis = open();
        }
        compared += await expectSameHistory(tee.memory, open(), threadId);
        await expectSameStates([compileGraph(tee.memory), compileGraph(open())], threadId);
      }),
      limits,
    );
    expect(compared).toBeGreaterThan(20);
  },
  60_000 + numRuns * 10_000,
);

it(
  `has the history that MemorySaver has, over random agents (seed ${seed})`,
  async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        const threadId = nextThread();
        const tee = new TeeSaver(open());
        for (const turn of all) {
          await takeTurn(tee, threadId, turn);
          if (turn.reopen) tee.redis = open();
        }
        compared += await expectSameHistory(tee.memory, open(), threadId);
        const graphs = [tee.memory, open()].map((saver) => agentOn(saver, []).graph);
        await expectSameStates(graphs, threadId);
      }),
      limits,
    );
    expect(compared).toBeGreaterThan(20);
  },
  60_000 + numRuns * 10_000,
);
