import { type ConcurrencyLimits, DroverError, type Redactor } from "@drover/contracts";
import type { RunQueue } from "@drover/queue";
import type { LoadedAgent, Prices } from "@drover/runtime";
import type { State } from "@drover/state";
import type { Complaints, Logger, Metrics, Traces } from "@drover/telemetry";
import type { ActiveRuns } from "./active-runs.js";
import type { Company } from "./company.js";
import type { SaverOf } from "./savers.js";

/** What every delivery is worked on with. */
export interface WorkerContext {
  /** Changes when others declared this worker gone and it starts anew. */
  workerId: () => string;
  state: State;
  queue: RunQueue;
  activeRuns: ActiveRuns;
  company: Company;
  /** Scopes that are paused, as of the last heartbeat. */
  pauses: ReadonlySet<string>;
  /** name → version */
  versions: Record<string, string>;
  concurrency: ConcurrencyLimits;
  agent: (name: string) => LoadedAgent;
  redactorOf: (agent: string) => Redactor;
  saverOf: SaverOf;
  runTimeoutMs: number;
  env: NodeJS.ProcessEnv;
  logger: Logger;
  /** For failures that may come again and again. */
  complaints: Complaints;
  metrics: Metrics;
  /** Undefined: nothing is traced. */
  traces: Traces | undefined;
  /** Undefined: Drover's own list. */
  prices: Prices | undefined;
  /** Called when a run was left: the worker makes progress. */
  onProgress: () => void;
}

export function unknownAgent(name: string, known: readonly string[]): DroverError {
  return new DroverError("UNKNOWN_AGENT", `There is no agent '${name}'. Known are: ${known.join(", ")}.`);
}
