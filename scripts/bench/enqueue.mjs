import { randomUUID } from "node:crypto";
import { Client } from "@drover/queue";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { withCleanUp } from "./clean-up.mjs";
import { cycled } from "./documents.mjs";
import { median, rounded } from "./statistics.mjs";

const RUNS = 3000;
const CHUNK = 500;
const PAIRS = 7;
const WARM_UP = 100;

/**
 * How fast `enqueueMany` accepts runs, as a ratio to BullMQ's `addBulk` of jobs that carry the same texts: median
 * of alternating pairs, each on an empty Redis.
 */
export async function measureEnqueue(redisUrl, texts, say) {
  return withCleanUp(async (later) => {
    const redis = new Redis(redisUrl);
    later(() => redis.disconnect());
    const timed = async (enqueue) => {
      await redis.flushdb();
      return enqueue(redisUrl, texts);
    };
    await timed(byDrover);
    await timed(byBullMQ);
    const ratios = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const first = await timed(pair % 2 === 0 ? byDrover : byBullMQ);
      const second = await timed(pair % 2 === 0 ? byBullMQ : byDrover);
      const [drover, bullmq] = pair % 2 === 0 ? [first, second] : [second, first];
      ratios.push(bullmq / drover);
      say(
        `enqueue ${pair + 1}/${PAIRS}: ${rate(drover)} by Drover, ${rate(bullmq)} by BullMQ, ` +
          `ratio ${rounded(ratios.at(-1))}`,
      );
    }
    await redis.flushdb();
    return median(ratios);
  });
}

async function byDrover(redisUrl, texts) {
  const client = new Client({ redisUrl, prefix: "bench-enqueue" });
  const requests = cycled(texts, RUNS).map((input) => ({ agent: "receipts", input }));
  try {
    await client.enqueueMany(requests.slice(0, WARM_UP));
    const start = performance.now();
    await client.enqueueMany(requests);
    return performance.now() - start;
  } finally {
    await client.close();
  }
}

async function byBullMQ(redisUrl, texts) {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue("bench-enqueue", { connection });
  const jobs = cycled(texts, RUNS).map((input) => ({
    name: "run",
    data: { agent: "receipts", input },
    opts: { jobId: randomUUID(), removeOnComplete: true },
  }));
  try {
    await queue.addBulk(jobs.slice(0, WARM_UP).map((job) => ({ ...job, opts: { removeOnComplete: true } })));
    const start = performance.now();
    for (let i = 0; i < jobs.length; i += CHUNK) await queue.addBulk(jobs.slice(i, i + CHUNK));
    return performance.now() - start;
  } finally {
    await queue.close();
    connection.disconnect();
  }
}

function rate(ms) {
  return `${rounded((RUNS / ms) * 1000)}/s`;
}
