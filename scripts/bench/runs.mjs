import { deepStrictEqual } from "node:assert";
import { join } from "node:path";
import { Client } from "@drover/queue";
import { root } from "../setup.mjs";
import { runBatch, spanOf } from "./batch.mjs";
import { startChild, WORKER } from "./child.mjs";
import { withCleanUp } from "./clean-up.mjs";
import { cpuMsOf } from "./cpu.mjs";
import { cycled } from "./documents.mjs";
import { median, rounded } from "./statistics.mjs";

const CONCURRENCY = 20;
const RUNS = 300;
const ROUNDS = 5;

/** Texts that the agent finishes alone; those that wait for a reviewer are left out, on both sides. */
export async function textsWithoutReview(texts) {
  return withCleanUp(async (later) => {
    const inProcess = await startChild(join(root, "scripts/bench/in-process.mjs"));
    later(() => inProcess.stop());
    const finished = [];
    for (const text of texts) if (await inProcess.ask("isCompleted", text)) finished.push(text);
    return finished;
  });
}

/**
 * One worker process against one process that calls the agent itself, in alternating rounds, each with the machine to
 * itself. A ratio is one of two neighbouring rounds: both meet the machine in the same mood.
 */
export async function measureRuns(redisUrl, texts, say) {
  return withCleanUp(async (later) => {
    const settings = { REDIS_URL: redisUrl, DROVER_PREFIX: "bench-runs", DROVER_ROOT: root };
    const worker = await startChild(WORKER, {
      ...settings,
      DROVER_CONCURRENCY: String(CONCURRENCY),
      LOG_LEVEL: "warn",
    });
    later(() => worker.stop());
    const inProcess = await startChild(join(root, "scripts/bench/in-process.mjs"));
    later(() => inProcess.stop());
    const client = new Client({ redisUrl, prefix: settings.DROVER_PREFIX });
    later(() => client.close());

    const documents = cycled(texts, RUNS);
    const byWorker = async () => {
      const cpu = cpuMsOf(worker.pid);
      const runs = await runBatch(client, documents);
      return { ms: spanOf(runs), cpuMs: cpuMsOf(worker.pid) - cpu, outputs: runs.map((run) => run.output) };
    };
    const alone = () => inProcess.ask("round", documents, CONCURRENCY);

    const warm = { drover: await byWorker(), alone: await alone() };
    deepStrictEqual(
      warm.drover.outputs,
      warm.alone.outputs,
      "Drover gave other outputs than the agent alone",
    );

    const rates = [];
    const ratios = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = round % 2 === 0 ? await byWorker() : await alone();
      const second = round % 2 === 0 ? await alone() : await byWorker();
      const [drover, other] = round % 2 === 0 ? [first, second] : [second, first];
      rates.push((RUNS / drover.ms) * 1000);
      ratios.push(other.ms / drover.ms);
      say(
        `runs ${round + 1}/${ROUNDS}: ${speed(drover)} by the worker, ${speed(other)} in one process, ` +
          `ratio ${rounded(ratios.at(-1))} (of CPU time ${rounded(other.cpuMs / drover.cpuMs)})`,
      );
    }
    return { runsPerSecond: median(rates), ratioToInProcess: median(ratios) };
  });
}

function speed({ ms, cpuMs }) {
  return `${rounded((RUNS / ms) * 1000)} runs/s (${rounded(cpuMs / RUNS)} ms CPU a run)`;
}
