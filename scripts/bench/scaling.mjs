/** Whether more worker processes do more: runs a second of an agent whose model takes two seconds. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { root } from "../setup.mjs";
import { startChild, WORKER } from "./child.mjs";
import { withCleanUp } from "./clean-up.mjs";
import { rounded } from "./statistics.mjs";

const PROCESSES = [1, 2, 4, 8];
/**
 * Runs at once in a process, and how many of them one after the other. More than four in each of eight processes would
 * measure the cores of a small machine.
 */
const CONCURRENCY = 4;
const WAVES = 5;
const LOOK_MS = 100;

/** @returns {Promise<{processes: Record<string, number>, linearity: number}>} */
export async function measure(say) {
  const processes = {};
  for (const count of PROCESSES) {
    const rate = await withCleanUp((later) => measureRate(count, later));
    processes[count] = rounded(rate);
    say(`${count} worker processes: ${processes[count]} runs a second`);
  }
  const most = Math.max(...PROCESSES);
  return { processes, linearity: rounded(processes[most] / (most * processes[1])) };
}

/** From the first start to the last end, by the runs' records. */
async function measureRate(count, later) {
  const redis = await startRedis();
  later(() => redis.stop());
  const client = new Client({ redisUrl: redis.url });
  later(() => client.close());
  const settings = {
    REDIS_URL: redis.url,
    DROVER_ROOT: join(root, "scripts/bench/project"),
    DROVER_CONCURRENCY: String(CONCURRENCY),
    LOG_LEVEL: "error",
  };
  const workers = await Promise.all(Array.from({ length: count }, () => startChild(WORKER, settings)));
  later(() => Promise.all(workers.map((worker) => worker.stop())));
  const runs = count * CONCURRENCY * WAVES;
  const { batchId } = await client.openBatch({ agent: "waits" });
  const input = "Please file it.";
  await client.enqueueMany(Array.from({ length: runs }, () => ({ agent: "waits", input, batchId })));
  await client.sealBatch(batchId);
  while ((await client.batch(batchId)).finishedAt === null) await sleep(LOOK_MS);
  const ended = await client.batchRuns(batchId, 0, runs, false);
  const failed = ended.filter(({ status }) => status !== "success");
  if (failed.length > 0 || ended.length < runs) throw new Error(`${failed.length} of ${runs} runs failed`);
  const first = Math.min(...ended.map(({ startedAt }) => startedAt));
  const last = Math.max(...ended.map(({ finishedAt }) => finishedAt));
  return runs / ((last - first) / 1000);
}

export function rows({ processes, linearity }) {
  return [
    ["figure", "measured", "aim"],
    ...Object.entries(processes).map(([count, rate]) => [`runs a second, ${count} processes`, `${rate}`, ""]),
    ["eight against eight times one", `${linearity}`, "0.9 or more"],
  ];
}
