/**
 * Ends many runs without the agent's own work: a real run's checkpoints are put in place of those that the agent would
 * write again. All the rest is what a worker does: queue, claim, settle, indexes.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { completed, scriptedWorker } from "../../libs/queue/dist/testing/fleet.js";

/** Milliseconds between two rounds of the sweeper. */
const PAUSE_MS = 200;

/** @param model a run that a worker has ended @returns what must be stopped */
export async function startScriptedWorker(client, redisUrl, model) {
  const { redis, keys } = client.state;
  const { base } = keys.thread(model.tenant, model.threadId);
  const names = (await redis.keys(`${base}:cp*`)).map((name) => name.slice(base.length));
  const parts = await Promise.all(
    names.map(async (name) => [name, await redis.dumpBuffer(`${base}${name}`)]),
  );
  const { output, usage, agentVersion: version } = await client.state.reader.run(model);
  const index = keys.index(`checkpoint-threads:${client.tenant}`);
  const worker = await scriptedWorker(client, redisUrl, {
    id: `scripted-${randomUUID()}`,
    agents: { [model.agent]: version },
    concurrency: 100,
    leaseMs: 3_600_000,
    act: async ({ tenant, threadId }) => {
      const own = keys.thread(tenant, threadId).base;
      await Promise.all([
        ...parts.map(([name, bytes]) => redis.restore(`${own}${name}`, 0, bytes)),
        redis.zadd(index, Date.now(), threadId),
      ]);
      return { ...completed(output), usage };
    },
  });
  let isOver = false;
  const sweeping = (async () => {
    while (!isOver) {
      await worker.sweeper.sweep(60_000).catch(() => {});
      await sleep(PAUSE_MS);
    }
  })();
  return async () => {
    isOver = true;
    await sweeping;
    await worker.stop();
  };
}
