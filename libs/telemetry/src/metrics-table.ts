import {
  DECISION_TYPES,
  ERROR_CODES,
  type ErrorCode,
  FINAL_STATUSES,
  MESSAGE_TYPES,
  type Outcome,
  REDACTION_PLACES,
  REDACTION_STRATEGIES,
  RUN_STATUSES,
} from "@drover/contracts";
import type { MetricSpec } from "./metric-spec.js";

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];
const ACTIVATION_OUTCOMES = [
  "completed",
  "interrupted",
  "failed",
  "cancelled",
  "timed_out",
  "yielded",
  "superseded",
] as const satisfies readonly Outcome["kind"][];

const MILLISECONDS_TO_A_MINUTE = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const TENTHS_TO_MINUTES = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300];
const TENTHS_TO_A_DAY = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400];
const CENTISECONDS_TO_HOURS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 3600, 14_400];
const LAG = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Every metric that Drover exports, by name. docs/metrics.md is made from it. */
export const METRICS = {
  drover_runs_total: {
    type: "counter",
    group: "Runs",
    unit: "runs",
    labels: ["agent", "outcome"],
    values: { outcome: FINAL_STATUSES },
    help: "Runs that reached a final state, counted once by the process that committed it.",
  },
  drover_run_failures_total: {
    type: "counter",
    group: "Runs",
    unit: "runs",
    labels: ["agent", "code"],
    values: { code: CODES },
    help: "Runs that ended with the status error or timeout, by their error's code.",
  },
  drover_run_duration_seconds: {
    type: "histogram",
    group: "Runs",
    unit: "seconds",
    labels: ["agent", "outcome"],
    values: { outcome: FINAL_STATUSES },
    buckets: TENTHS_TO_A_DAY,
    help: "From a run's first start to its final state; waiting for retries and for people is included.",
  },
  drover_activation_duration_seconds: {
    type: "histogram",
    group: "Runs",
    unit: "seconds",
    labels: ["agent", "outcome"],
    values: { outcome: ACTIVATION_OUTCOMES },
    buckets: TENTHS_TO_A_DAY,
    help: "How long one activation of a run held a worker slot, by what it came to.",
  },
  drover_queue_wait_seconds: {
    type: "histogram",
    group: "Runs",
    unit: "seconds",
    labels: ["agent"],
    buckets: CENTISECONDS_TO_HOURS,
    help: "From the moment an activation could have started to the moment a worker took it.",
  },
  drover_runs: {
    type: "gauge",
    group: "Runs",
    unit: "runs",
    labels: ["status"],
    values: { status: RUN_STATUSES },
    scope: "fleet",
    help: "Runs that Redis holds now, by status.",
  },
  drover_oldest_waiting_run_age_seconds: {
    type: "gauge",
    group: "Runs",
    unit: "seconds",
    labels: [],
    scope: "fleet",
    help: "Age of the oldest run that could start and was not taken; 0 where none waits.",
  },
  drover_model_calls_total: {
    type: "counter",
    group: "Models",
    unit: "calls",
    labels: ["agent", "model", "provider", "outcome"],
    values: { outcome: ["success", ...CODES] },
    help: "Requests to a model's provider, each retry and fallback counted.",
  },
  drover_model_call_duration_seconds: {
    type: "histogram",
    group: "Models",
    unit: "seconds",
    labels: ["agent", "model", "provider"],
    buckets: TENTHS_TO_MINUTES,
    help: "From a request to a provider to its whole answer or its failure.",
  },
  drover_model_tokens_total: {
    type: "counter",
    group: "Models",
    unit: "tokens",
    labels: ["agent", "model", "provider", "direction"],
    values: { direction: ["input", "output", "cached", "reasoning"] },
    help: "Tokens as providers report them. `cached` is a part of `input`, `reasoning` a part of `output`.",
  },
  drover_model_cost_dollars_total: {
    type: "counter",
    group: "Models",
    unit: "dollars",
    labels: ["tenant", "agent", "model", "provider"],
    help: "What model calls cost by the price list. A lower bound while calls without a price are counted.",
  },
  drover_model_unpriced_calls_total: {
    type: "counter",
    group: "Models",
    unit: "calls",
    labels: ["model", "provider"],
    help: "Calls of models that the price list does not have.",
  },
  drover_fallbacks_total: {
    type: "counter",
    group: "Models",
    unit: "fallbacks",
    labels: ["agent", "from_model", "to_model"],
    help: "Calls that went to the next model of the policy because one failed.",
  },
  drover_tool_calls_total: {
    type: "counter",
    group: "Tools",
    unit: "calls",
    labels: ["agent", "tool", "outcome"],
    values: { outcome: ["success", "replayed", ...CODES] },
    help: "Tool calls; `replayed` took a committed result in place of a call. Unknown tools count as `other`.",
  },
  drover_tool_call_duration_seconds: {
    type: "histogram",
    group: "Tools",
    unit: "seconds",
    labels: ["agent", "tool"],
    buckets: MILLISECONDS_TO_A_MINUTE,
    help: "From the start of a tool call to its result or its failure.",
  },
  drover_effects_unknown_total: {
    type: "counter",
    group: "Tools",
    unit: "effects",
    labels: ["agent", "tool"],
    help: "Calls of tools marked once that were started and whose outcome nobody knows.",
  },
  drover_retries_total: {
    type: "counter",
    group: "Faults and repairs",
    unit: "retries",
    labels: ["agent", "layer"],
    values: { layer: ["model", "tool", "run"] },
    help: "Second and later tries after a fault that may pass: of a model call, a tool call or a whole run.",
  },
  drover_limit_hits_total: {
    type: "counter",
    group: "Faults and repairs",
    unit: "hits",
    labels: ["agent", "limit", "scope"],
    values: {
      limit: ["model_calls", "tool_calls", "one_tool", "recursion", "run_time", "deadline"],
      scope: ["run", "thread"],
    },
    help: "Limits that stopped a call or a run. `one_tool` is the limit of a single tool.",
  },
  drover_concurrency_waits_total: {
    type: "counter",
    group: "Faults and repairs",
    unit: "waits",
    labels: ["kind"],
    values: { kind: ["tenant", "agent", "key"] },
    help: "Runs that had to wait in line because a limit of concurrent runs was reached, by whose limit it was.",
  },
  drover_interrupts_raised_total: {
    type: "counter",
    group: "Approvals",
    unit: "approvals",
    labels: ["agent"],
    help: "Questions to people that runs raised.",
  },
  drover_interrupts_answered_total: {
    type: "counter",
    group: "Approvals",
    unit: "approvals",
    labels: ["agent", "decision"],
    values: { decision: [...DECISION_TYPES, "value", "mixed"] },
    help: "Questions that were answered; `value` answers a plain question, `mixed` had several decisions.",
  },
  drover_interrupts_pending: {
    type: "gauge",
    group: "Approvals",
    unit: "approvals",
    labels: [],
    scope: "fleet",
    help: "Questions that wait for an answer now.",
  },
  drover_oldest_interrupt_age_seconds: {
    type: "gauge",
    group: "Approvals",
    unit: "seconds",
    labels: [],
    scope: "fleet",
    help: "Age of the oldest question that waits for an answer; 0 where none waits.",
  },
  drover_messages_total: {
    type: "counter",
    group: "Messages",
    unit: "messages",
    labels: ["type", "outcome"],
    values: { type: [...MESSAGE_TYPES, "unknown"], outcome: ["admitted", "refused"] },
    help: "Messages of the inbox that were handled, by their type and what became of them.",
  },
  drover_webhooks_total: {
    type: "counter",
    group: "Messages",
    unit: "requests",
    labels: ["outcome"],
    values: { outcome: ["delivered", "failed"] },
    help: "Tries to post a webhook, by whether its receiver took it.",
  },
  drover_redactions_total: {
    type: "counter",
    group: "Privacy",
    unit: "matches",
    labels: ["type", "strategy", "place"],
    values: { strategy: REDACTION_STRATEGIES, place: REDACTION_PLACES },
    help: "Matches of PII rules, by rule, by what was done with them and by where they stood.",
  },
  drover_leases_lost_total: {
    type: "counter",
    group: "Faults and repairs",
    unit: "leases",
    labels: [],
    help: "Threads that another worker took over while this process worked on them.",
  },
  drover_stale_writes_refused_total: {
    type: "counter",
    group: "Faults and repairs",
    unit: "writes",
    labels: [],
    help: "Writes of this process that Redis refused because its lease was gone.",
  },
  drover_sweeper_repairs_total: {
    type: "counter",
    group: "Faults and repairs",
    unit: "repairs",
    labels: ["repair"],
    help: "What the sweeper found left behind by a crash and finished, by kind.",
  },
  drover_dead_letters_total: {
    type: "counter",
    group: "Faults and repairs",
    unit: "runs",
    labels: ["agent", "code"],
    values: { code: CODES },
    help: "Runs that were put on the list of dead letters, by the error that put them there.",
  },
  drover_worker_slots: {
    type: "gauge",
    group: "Processes",
    unit: "slots",
    labels: [],
    help: "Runs that this worker executes at most at once.",
  },
  drover_worker_slots_in_use: {
    type: "gauge",
    group: "Processes",
    unit: "slots",
    labels: [],
    help: "Runs that this worker executes now.",
  },
  drover_event_loop_lag_seconds: {
    type: "histogram",
    group: "Processes",
    unit: "seconds",
    labels: [],
    buckets: LAG,
    help: "How late a timer of this process was: above a second, leases and heartbeats are in danger.",
  },
  drover_health_check_ok: {
    type: "gauge",
    group: "Processes",
    unit: "boolean",
    labels: ["check"],
    help: "1 where a check behind /healthz passed when it was last made, else 0.",
  },
  drover_build_info: {
    type: "gauge",
    group: "Processes",
    unit: "boolean",
    labels: ["version", "node"],
    help: "Always 1; the labels say which version of Drover and Node this process runs.",
  },
} as const satisfies Record<string, MetricSpec>;

type Table = typeof METRICS;
export type MetricName = keyof Table;
/** Names of all metrics of a type. */
export type NameOf<T extends MetricSpec["type"]> = {
  [N in MetricName]: Table[N]["type"] extends T ? N : never;
}[MetricName];

type ValueOf<N extends MetricName, L extends string> = Table[N] extends {
  values: Readonly<Record<L, readonly (infer V extends string)[]>>;
}
  ? V
  : string;
/** The labels that a metric needs, all of them. */
export type LabelsOf<N extends MetricName> = { [L in Table[N]["labels"][number]]: ValueOf<N, L> };
