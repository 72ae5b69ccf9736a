import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { createKeys } from "../keys.js";
import { RedisSaver } from "./redis-saver.js";
import { compileGraph, steps, takeStep } from "./testing/random-graph.js";
import { startTestRedis } from "./testing/redis-servers.js";
import { expectSameHistory, expectSameStates, TeeSaver } from "./testing/tee-saver.js";

const server = await startTestRedis();
afterAll(() => server.stop());
const open = () => new RedisSaver({ redis: server.redis, keys: createKeys(), tenant: "acme" });

/** DROVER_SEED repeats a run. */
const seed = Number(process.env.DROVER_SEED ?? Date.now() % 2 ** 31);

it(`has the history that MemorySaver has, over random graphs (seed ${seed})`, async () => {
  console.log(`history-property seed: ${seed}`);
  let threads = 0;
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      threads += 1;
      const threadId = `thread ${threads}`;
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
    { seed, numRuns: 40, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
  );
  console.log(`${threads} threads, ${compared} checkpoints compared`);
  expect(compared).toBeGreaterThan(100);
}, 60_000);
