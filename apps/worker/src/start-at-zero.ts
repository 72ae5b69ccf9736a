import { DEAD_LETTER_CODES, ENDINGS, FINAL_STATUSES } from "@drover/contracts";
import { REPAIRS } from "@drover/queue";
import type { LoadedAgent } from "@drover/runtime";
import type { Metrics } from "@drover/telemetry";

/**
 * Exports as 0 what alerts watch for its first time: to Prometheus a counter that appears as 1 has not grown.
 * @param agents those that this worker has
 */
export function startAtZero(metrics: Metrics, agents: readonly LoadedAgent[]): void {
  for (const repair of REPAIRS) metrics.inc("drover_sweeper_repairs_total", { repair }, 0);
  for (const outcome of ["delivered", "failed"] as const)
    metrics.inc("drover_webhooks_total", { outcome }, 0);
  metrics.inc("drover_messages_total", { type: "unknown", outcome: "refused" }, 0);
  for (const { name: agent, definition } of agents) {
    for (const outcome of FINAL_STATUSES) metrics.inc("drover_runs_total", { agent, outcome }, 0);
    for (const ended_by of ENDINGS) metrics.inc("drover_run_endings_total", { agent, ended_by }, 0);
    for (const code of DEAD_LETTER_CODES) metrics.inc("drover_dead_letters_total", { agent, code }, 0);
    for (const layer of ["model", "tool", "run"] as const)
      metrics.inc("drover_retries_total", { agent, layer }, 0);
    for (const limit of ["recursion", "run_time", "deadline"] as const) {
      metrics.inc("drover_limit_hits_total", { agent, limit, scope: "run" }, 0);
    }
    metrics.inc("drover_interrupts_raised_total", { agent }, 0);
    for (const tool of definition?.policy.once ?? []) {
      metrics.inc("drover_effects_unknown_total", { agent, tool }, 0);
    }
  }
}
