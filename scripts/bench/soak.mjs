/** Whether a fleet can go on for ever: memory of worker and Redis over many runs, and what is left when all is over. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { leftovers } from "@drover/chaos";
import { startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { root } from "../setup.mjs";
import { startChild, WORKER } from "./child.mjs";
import { withCleanUp } from "./clean-up.mjs";
import { median, rounded } from "./statistics.mjs";

const RUNS = 20_000;
const CHUNK = 500;
const WORKERS = 2;
const LOOK_MS = 100;
/** Finished runs are forgotten after seconds, so that as many come as go. */
const RETENTION = "runs=5s,threads=5s,events=5s,batches=20s,idempotency=5s";
/** Milliseconds that Redis and the sweeper get to forget the last ones. */
const FORGET_MS = 180_000;

/** BENCH_RUNS sets their number. */
export async function measure(say) {
  const runs = Number(process.env.BENCH_RUNS ?? RUNS);
  return withCleanUp((later) => soak(runs, later, say));
}

/**
 * Samples are taken after each chunk of runs. The first half is the warm-up; the growth is what the median of the last
 * quarter has more than that of the third one, for each run between them.
 */
export async function soak(runs, later, say) {
  const redis = await startRedis();
  later(() => redis.stop());
  const client = new Client({ redisUrl: redis.url });
  later(() => client.close());
  const settings = {
    REDIS_URL: redis.url,
    DROVER_ROOT: join(root, "scripts/bench/project"),
    DROVER_CONCURRENCY: "20",
    DROVER_RETENTION: RETENTION,
    LOG_LEVEL: "error",
  };
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startChild(WORKER, settings)));
  later(() => Promise.all(workers.map((worker) => worker.stop())));
  const began = performance.now();
  const samples = [];
  const chunk = Math.min(CHUNK, Math.ceil(runs / 8));
  for (let done = 0; done < runs; done += chunk) {
    await finish(client, Math.min(chunk, runs - done), done);
    const rss = workers.map(({ pid }) => rssOf(pid));
    samples.push({ redis: await usedMemory(client), worker: Math.max(...rss) });
    say(`${Math.min(done + chunk, runs)} of ${runs} runs: ${JSON.stringify(samples.at(-1))}`);
  }
  const seconds = (performance.now() - began) / 1000;
  const left = await whenForgotten(client);
  return {
    runs,
    runsPerSecond: rounded(runs / seconds),
    redisBytes: growth(
      samples.map((sample) => sample.redis),
      chunk,
    ),
    workerBytes: growth(
      samples.map((sample) => sample.worker),
      chunk,
    ),
    keysWithoutOwner: left.keys,
    slotsLeft: left.slots,
  };
}

async function finish(client, count, from) {
  const { batchId } = await client.openBatch({ agent: "calls-once" });
  const requests = Array.from({ length: count }, (_, i) => ({
    agent: "calls-once",
    input: `Please file expense ${from + i}.`,
    batchId,
  }));
  await client.enqueueMany(requests);
  await client.sealBatch(batchId);
  while ((await client.batch(batchId)).finishedAt === null) await sleep(LOOK_MS);
}

function growth(values, chunk) {
  const quarter = Math.max(1, Math.floor(values.length / 4));
  const before = median(values.slice(-2 * quarter, -quarter));
  const after = median(values.slice(-quarter));
  return { afterWarmUp: before, end: after, growthPerRun: Math.round((after - before) / (quarter * chunk)) };
}

function rssOf(pid) {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)])) * 1024;
}

async function usedMemory({ state }) {
  const [, bytes] = /used_memory:(\d+)/.exec(await state.redis.info("memory")) ?? [];
  return Number(bytes);
}

/** What is left when the time of all runs is over: keys that nobody owns, and what holds a slot. */
async function whenForgotten(client) {
  const { redis, keys } = client.state;
  const end = performance.now() + FORGET_MS;
  for (;;) {
    const left = await leftovers(client.state, client.queue);
    const runs =
      (await redis.zcard(keys.index(`runs:${client.tenant}`))) + (await redis.keys("*}:run:*")).length;
    if (left.keys.length + left.slots.length + runs === 0 || performance.now() > end) return left;
    await sleep(10 * LOOK_MS);
  }
}

export function rows({ runs, redisBytes, workerBytes, keysWithoutOwner, slotsLeft }) {
  const mib = (bytes) => `${rounded(bytes / 1024 / 1024)} MiB`;
  const memory = (name, { afterWarmUp, end, growthPerRun }) => [
    `${name}: after warm-up, at the end, growth for each run`,
    `${mib(afterWarmUp)}, ${mib(end)}, ${growthPerRun} bytes`,
    "flat",
  ];
  return [
    ["figure", "measured", "aim"],
    memory("Redis", redisBytes),
    memory("largest worker", workerBytes),
    [`keys without an owner after ${runs} runs`, `${keysWithoutOwner.length}`, "0"],
    ["slots that are held", `${slotsLeft.length}`, "0"],
  ];
}
