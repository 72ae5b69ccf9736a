import { startRedis } from "@drover/embedded";
import { withCleanUp } from "./clean-up.mjs";
import { sampleTexts } from "./documents.mjs";
import { measureEnqueue } from "./enqueue.mjs";
import { measureRuns, textsWithoutReview } from "./runs.mjs";
import { measureStartLatency } from "./start-latency.mjs";
import { rounded } from "./statistics.mjs";
import { measureTrips } from "./trips.mjs";

/** All that docs/benchmarks.md says of the benchmark of this name, on a Redis of its own with an append-only file. */
export async function measure(say) {
  return withCleanUp(async (later) => {
    const redis = await startRedis();
    later(() => redis.stop());
    const texts = await textsWithoutReview(await sampleTexts());
    say(`${texts.length} sample documents`);
    const figures = {
      ...(await measureRuns(redis.url, texts, say)),
      roundTripsPerRun: await measureTrips(redis.url, texts, say),
      enqueueRatioToBullMQ: await measureEnqueue(redis.url, texts, say),
      ...(await measureStartLatency(redis.url, texts[0], say)),
    };
    return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)]));
  });
}

export function rows(figures) {
  return [
    ["figure", "measured", "aim"],
    ["runs per second, one worker process", `${figures.runsPerSecond}`, ""],
    ["… as a ratio to the agent in one process", `${figures.ratioToInProcess}`, "0.8 or more"],
    ["round trips to Redis per run", `${figures.roundTripsPerRun}`, ""],
    ["enqueue rate as a ratio to BullMQ's addBulk", `${figures.enqueueRatioToBullMQ}`, "0.7 or more"],
    ["enqueue to the agent's first step, median", `${figures.startLatencyP50Ms} ms`, ""],
    ["… as a ratio to a plain BullMQ job", `${figures.startLatencyRatioToBullMQ}`, "1.5 or less"],
  ];
}
