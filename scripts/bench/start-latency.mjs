import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@drover/queue";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { root } from "../setup.mjs";
import { startChild, WORKER, wallClock } from "./child.mjs";
import { withCleanUp } from "./clean-up.mjs";
import { percentile, rounded } from "./statistics.mjs";

const SAMPLES = 60;
const WARM_UP = 20;
/** Milliseconds between two samples: both workers wait for work again. */
const PAUSE_MS = 25;

/** Milliseconds from the call that enqueues to the first step of the agent, and of a job of plain BullMQ: medians. */
export async function measureStartLatency(redisUrl, text, say) {
  return withCleanUp(async (later) => {
    const drover = await startDrover(redisUrl, text, later);
    const bullmq = await startBullMQ(redisUrl, text, later);
    const samples = { drover: [], bullmq: [] };
    for (let i = 0; i < WARM_UP + SAMPLES; i += 1) {
      const pair = { drover: await drover(), bullmq: await bullmq() };
      if (i < WARM_UP) continue;
      samples.drover.push(pair.drover);
      samples.bullmq.push(pair.bullmq);
    }
    for (const [who, ms] of Object.entries(samples)) {
      const [p50, p95] = [0.5, 0.95].map((share) => rounded(percentile(ms, share)));
      say(`start: ${who} ${p50} ms at the median, ${p95} ms at the 95th percentile`);
    }
    const p50 = percentile(samples.drover, 0.5);
    return { startLatencyP50Ms: p50, startLatencyRatioToBullMQ: p50 / percentile(samples.bullmq, 0.5) };
  });
}

/** A function that takes one sample. */
async function startDrover(redisUrl, text, later) {
  const prefix = "bench-start";
  const worker = await startChild(WORKER, {
    REDIS_URL: redisUrl,
    DROVER_PREFIX: prefix,
    DROVER_ROOT: join(root, "scripts/bench/project"),
    LOG_LEVEL: "warn",
  });
  later(() => worker.stop());
  const client = new Client({ redisUrl, prefix });
  later(() => client.close());
  return async () => {
    await sleep(PAUSE_MS);
    const start = wallClock();
    const handle = await client.enqueueRun({ agent: "clock", input: { text } });
    const { output } = await handle.result({ timeoutMs: 30_000 });
    return output.startedAt - start;
  };
}

async function startBullMQ(redisUrl, text, later) {
  const worker = await startChild(join(root, "scripts/bench/bullmq-worker.mjs"), { REDIS_URL: redisUrl });
  later(() => worker.stop());
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  later(() => connection.disconnect());
  const queue = new Queue("bench-start", { connection });
  later(() => queue.close());
  return async () => {
    await sleep(PAUSE_MS);
    const startedAt = worker.ask("nextStart");
    const start = wallClock();
    await queue.add("run", { agent: "clock", input: { text } }, { removeOnComplete: true });
    return (await startedAt) - start;
  };
}
