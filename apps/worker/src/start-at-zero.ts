import { DEAD_LETTER_CODES, ENDINGS, type ErrorCode, FINAL_STATUSES } from "@drover/contracts";
import { REPAIRS } from "@drover/queue";
import { type AgentDefinition, type LoadedAgent, toolNamesOf } from "@drover/runtime";
import type { Metrics } from "@drover/telemetry";

/** Codes with which runs end for which their agents, models and tools are to blame. */
const FAILURES: readonly ErrorCode[] = [
  ...([
    "AGENT_ERROR",
    "TOOL_ERROR",
    "UNKNOWN_TOOL",
    "MODEL_ERROR",
    "MODEL_AUTH",
    "MODEL_RATE_LIMITED",
  ] as const),
  ...(["MODEL_TIMEOUT", "MODEL_BAD_RESPONSE", "STRUCTURED_OUTPUT_INVALID", "RECURSION_LIMIT"] as const),
  ...(["MODEL_CALL_LIMIT", "TOOL_CALL_LIMIT", "DEADLINE_EXCEEDED", "RUN_TIMEOUT", "EFFECT_UNKNOWN"] as const),
  ...(["APPROVAL_EXPIRED", "PII_BLOCKED", "PII_DETECTOR_FAILED", "INVALID_INPUT"] as const),
  ...DEAD_LETTER_CODES,
];
const OF_MODELS = FAILURES.filter((code) => code.startsWith("MODEL_") && code !== "MODEL_CALL_LIMIT");

/**
 * Exports as 0 what alerts and dashboards watch for its first time: to Prometheus a counter that appears as 1 has not
 * grown.
 * @param agents those that this worker has
 */
export function startAtZero(metrics: Metrics, agents: readonly LoadedAgent[]): void {
  for (const repair of REPAIRS) metrics.inc("drover_sweeper_repairs_total", { repair }, 0);
  for (const outcome of ["delivered", "failed"] as const)
    metrics.inc("drover_webhooks_total", { outcome }, 0);
  metrics.inc("drover_notices_dropped_total", {}, 0);
  metrics.inc("drover_messages_total", { type: "unknown", outcome: "refused" }, 0);
  for (const { name: agent, definition } of agents) {
    for (const outcome of FINAL_STATUSES) metrics.inc("drover_runs_total", { agent, outcome }, 0);
    for (const ended_by of ENDINGS) metrics.inc("drover_run_endings_total", { agent, ended_by }, 0);
    for (const code of FAILURES) metrics.inc("drover_run_failures_total", { agent, code }, 0);
    for (const code of DEAD_LETTER_CODES) metrics.inc("drover_dead_letters_total", { agent, code }, 0);
    for (const layer of ["model", "tool", "run"] as const) {
      metrics.inc("drover_retries_total", { agent, layer }, 0);
    }
    for (const limit of ["recursion", "run_time", "deadline"] as const) {
      metrics.inc("drover_limit_hits_total", { agent, limit, scope: "run" }, 0);
    }
    metrics.inc("drover_interrupts_raised_total", { agent }, 0);
    for (const action of ["approve", "reject", "fail", "escalate"] as const) {
      metrics.inc("drover_interrupts_expired_total", { agent, action }, 0);
    }
    if (definition) startCallsAtZero(metrics, agent, definition);
  }
}

function startCallsAtZero(metrics: Metrics, agent: string, definition: AgentDefinition): void {
  for (const tool of toolNamesOf(definition)) {
    for (const outcome of ["success", "TOOL_ERROR"] as const) {
      metrics.inc("drover_tool_calls_total", { agent, tool, outcome }, 0);
    }
  }
  for (const tool of definition.policy.once) metrics.inc("drover_effects_unknown_total", { agent, tool }, 0);
  for (const model of [definition.model, ...(definition.fallbacks ?? [])]) {
    const name = typeof model === "string" ? model : "model" in model ? model.model : undefined;
    const [provider, rest] = typeof name === "string" ? name.split(":") : [];
    // An instance of a model tells its name with its first call.
    if (!provider || !rest) continue;
    const labels = { agent, model: `${provider}:${rest}`, provider };
    metrics.zero("drover_model_first_token_seconds", labels);
    for (const outcome of ["success", ...OF_MODELS] as const) {
      metrics.inc("drover_model_calls_total", { ...labels, outcome }, 0);
    }
  }
}
