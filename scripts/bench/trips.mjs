import { join } from "node:path";
import { Client } from "@drover/queue";
import { root } from "../setup.mjs";
import { runBatch } from "./batch.mjs";
import { startChild, WORKER } from "./child.mjs";
import { withCleanUp } from "./clean-up.mjs";
import { cycled } from "./documents.mjs";
import { rounded } from "./statistics.mjs";

const RUNS = 300;
const RUNS_ALONE = 60;

/**
 * Round trips of the producer and of a worker, from the enqueueing to the results, per run: under load, where runs
 * share flights; and for orientation on a worker that takes one run at a time.
 */
export async function measureTrips(redisUrl, texts, say) {
  return withCleanUp(async (later) => {
    const proxy = await startChild(join(root, "scripts/bench/trips-proxy.mjs"), { REDIS_URL: redisUrl });
    later(() => proxy.stop());
    const url = new URL(redisUrl);
    url.port = String(proxy.hello.port);
    const perRun = (concurrency, runs) => tripsPerRun(url.href, redisUrl, proxy, texts, concurrency, runs);
    const underLoad = await perRun(20, RUNS);
    say(`round trips per run: ${rounded(underLoad)} at concurrency 20`);
    say(`round trips per run: ${rounded(await perRun(1, RUNS_ALONE))} at concurrency 1`);
    return underLoad;
  });
}

async function tripsPerRun(proxyUrl, directUrl, proxy, texts, concurrency, runs) {
  return withCleanUp(async (later) => {
    const prefix = `bench-trips-${concurrency}`;
    const worker = await startChild(WORKER, {
      REDIS_URL: proxyUrl,
      DROVER_PREFIX: prefix,
      DROVER_ROOT: root,
      DROVER_CONCURRENCY: String(concurrency),
      LOG_LEVEL: "warn",
    });
    later(() => worker.stop());
    const producer = new Client({ redisUrl: proxyUrl, prefix });
    later(() => producer.close());
    const observer = new Client({ redisUrl: directUrl, prefix });
    later(() => observer.close());
    // Connections, scripts and the first use of everything are paid for once.
    await runBatch(producer, cycled(texts, concurrency), observer);
    const before = await proxy.ask("trips");
    await runBatch(producer, cycled(texts, runs), observer);
    return ((await proxy.ask("trips")) - before) / runs;
  });
}
