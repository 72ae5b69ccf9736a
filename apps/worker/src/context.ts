import { type ConcurrencyLimits, DroverError, type Redactor, type Transition } from "@drover/contracts";
import type { RunQueue } from "@drover/queue";
import type { LoadedAgent } from "@drover/runtime";
import type { State } from "@drover/state";
import type { Complaints, Logger, Metrics } from "@drover/telemetry";
import type { ActiveRuns } from "./active-runs.js";

/** What every delivery is worked on with. */
export interface WorkerContext {
  /** Changes when others declared this worker gone and it starts anew. */
  workerId: () => string;
  state: State;
  queue: RunQueue;
  activeRuns: ActiveRuns;
  /** Scopes that are paused, as of the last heartbeat. */
  pauses: ReadonlySet<string>;
  /** name → version */
  versions: Record<string, string>;
  concurrency: ConcurrencyLimits;
  agent: (name: string) => LoadedAgent;
  redactorOf: (agent: string) => Redactor;
  runTimeoutMs: number;
  env: NodeJS.ProcessEnv;
  logger: Logger;
  /** For failures that may come again and again. */
  complaints: Complaints;
  metrics: Metrics;
  /** Called when a run was left: the worker makes progress. */
  onProgress: () => void;
  /** Counts a committed transition in the metrics. */
  count: (transition: Transition) => void;
}

export function countTransition(metrics: Metrics, t: Transition): void {
  const { agent } = t;
  if (t.raised.length > 0) metrics.inc("drover_interrupts_raised_total", { agent }, t.raised.length);
  if (t.status === "success" || t.status === "error" || t.status === "timeout" || t.status === "cancelled") {
    metrics.inc("drover_runs_total", { agent, outcome: t.status });
    metrics.observe("drover_run_duration_seconds", { agent, outcome: t.status }, (t.at - t.createdAt) / 1000);
    if (t.code) metrics.inc("drover_run_failures_total", { agent, code: t.code });
  } else if (t.status === "pending" && t.dispatch) {
    metrics.inc("drover_retries_total", { agent, layer: "run" });
  }
}

export function unknownAgent(name: string, known: readonly string[]): DroverError {
  return new DroverError("UNKNOWN_AGENT", `There is no agent '${name}'. Known are: ${known.join(", ")}.`);
}
