import { DEFAULT_TENANT, derivedUuid, isFinal, type Run } from "@drover/contracts";
import { Client, type RunHandle } from "@drover/queue";
import { resumeValue, validateAnswer } from "@drover/runtime";
import { readConfig, startWorker } from "@drover/worker";
import type { ChaosAgent } from "./agents.js";
import type { When } from "./crash-points.js";
import { WorkerProcess } from "./fleet.js";
import { readLedger } from "./ledger.js";

const preload = new URL("../preload/crash.mjs", import.meta.url).href;

const LEASE_MS = 1000;
const MOST_MS = 90_000;

export interface CrashRun {
  agent: ChaosAgent;
  root: string;
  ledger: string;
  redisUrl: string;
  /** Names the run and its thread. */
  label: string;
  crash?: { at: number; when: When };
  countFile?: string;
}

export interface Ended {
  label: string;
  status: Run["status"];
  endedBy: Run["endedBy"];
  code: string | null;
  output: unknown;
  questions: number;
  /** How often tools marked once were started. */
  once: number;
  modelCalls: number;
  /** From the worker's death to the run's end; 0 where it did not die. */
  recoveryMs: number;
}

/** One run on a worker that may die, in a place of its own in Redis, and on another worker once it has died. */
export async function runOnce(settings: CrashRun): Promise<Ended> {
  const { agent, label, ledger, redisUrl } = settings;
  // Without the label, which is to tell the run's commands from all others.
  const prefix = `c${performance.now().toString(36).replace(".", "")}`;
  const client = new Client({
    redisUrl,
    prefix,
    readAnswer: (approval, answer) => resumeValue(approval, validateAnswer(approval, answer)),
  });
  const worker = start(settings, prefix);
  let diedAt: number | null = null;
  const rescuer = worker.exited.then(async () => {
    if (worker.isExpectedToEnd) return null;
    diedAt = performance.now();
    return startWorker(rescuerConfig(settings, prefix), process.env);
  });
  // Where nobody can take the run over there is nothing to wait for; and a failure that nobody waits for yet would end
  // this process.
  const noRescue = new Promise<never>((_, reject) => rescuer.catch(reject));
  noRescue.catch(() => {});
  try {
    await Promise.race([worker.ready, worker.exited]);
    const handle = await client.enqueueRun({
      agent: agent.name,
      threadId: label,
      idempotencyKey: label,
      input: agent.input({ run: label, thread: label, ms: 5 }),
    });
    const run = await Promise.race([noRescue, seeToItsEnd(client, handle)]);
    const lines = readLedger(ledger).filter((line) => line.run === label);
    return {
      label,
      status: run.status,
      endedBy: run.endedBy,
      code: run.error?.code ?? null,
      output: run.output,
      questions: run.approvals.length,
      once: agent.effectsOf?.(label) ?? lines.filter(({ what }) => what === "once").length,
      modelCalls: lines.filter(({ what }) => what === "model").length,
      recoveryMs: diedAt === null ? 0 : Math.round(performance.now() - diedAt),
    };
  } finally {
    await worker.kill();
    await (await rescuer.catch(() => null))?.stop();
    await client.close();
  }
}

function start(
  { agent, root, ledger, redisUrl, label, crash, countFile }: CrashRun,
  prefix: string,
): WorkerProcess {
  return new WorkerProcess({
    redisUrl,
    prefix,
    root,
    ledger,
    leaseMs: LEASE_MS,
    concurrency: 2,
    preload,
    env: {
      DROVER_CHAOS_CRASH_MATCH: [label, derivedUuid("run", DEFAULT_TENANT, label)].join(","),
      ...(crash ? { DROVER_CHAOS_CRASH_AT: String(crash.at), DROVER_CHAOS_CRASH_WHEN: crash.when } : {}),
      ...(countFile ? { DROVER_CHAOS_CRASH_COUNT: countFile } : {}),
      ...agent.env,
    },
  });
}

function rescuerConfig({ root, redisUrl }: CrashRun, prefix: string) {
  const env = {
    REDIS_URL: redisUrl,
    DROVER_PREFIX: prefix,
    DROVER_ROOT: root,
    DROVER_LEASE_MS: String(LEASE_MS),
    LOG_LEVEL: "silent",
  };
  return readConfig(env, root);
}

/** Answers what the run asks: always yes. */
async function seeToItsEnd(client: Client, handle: RunHandle): Promise<Run> {
  const end = AbortSignal.timeout(MOST_MS);
  for (;;) {
    const run = await handle.result({ signal: end });
    if (isFinal(run.status)) return run;
    for (const { runId, approvalId, actions } of await client.listApprovals()) {
      if (runId !== handle.runId) continue;
      await client.decide(
        approvalId,
        actions ? { decisions: actions.map(() => ({ type: "approve" })) } : { value: "yes" },
      );
    }
  }
}
