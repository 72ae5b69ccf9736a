import type { Counters, Effects, Redactor, RunEventData } from "@drover/contracts";
import type { Logger, Metrics, TraceSpan } from "@drover/telemetry";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph";
import type { Environment, Prices } from "../models/index.js";

/** What one activation is executed with. The worker makes them; everything that writes is fenced by its lease. */
export interface Services {
  checkpointer: BaseCheckpointSaver;
  /** LangGraph's long-term memory of the run's tenant. Default: the graph's own, or none. */
  store?: BaseStore;
  counters: Counters;
  effects: Effects;
  redactor: Redactor;
  /** Fires when the activation must stop at once; its reason is a DroverError that says why. */
  signal: AbortSignal;
  /** Fires when the activation should stop at the next step boundary and go to another worker. */
  drain: AbortSignal;
  /** Called in order, never after `signal` fired. */
  onEvent(event: RunEventData): void;
  logger: Pick<Logger, "debug" | "info" | "warn" | "error">;
  metrics?: Pick<Metrics, "inc" | "observe">;
  /** Where the run is traced: what its calls become parts of. `content` redacts what is said, where that may be told. */
  trace?: { span: Pick<TraceSpan, "child">; content?: Redactor };
  /** Default: Drover's own list. */
  prices?: Prices;
  /** Where credentials of the runtime context come from: DROVER_CREDENTIAL_<NAME>. */
  env: Environment;
}
