import { DEAD_LETTER_CODES, type ErrorCode, isFinal, type Transition } from "@drover/contracts";
import type { Metrics } from "@drover/telemetry";

/** Limits that end a run by its error's code, and that no policy counts where they are hit. */
const LIMIT_OF: Partial<
  Record<ErrorCode, "recursion" | "run_time" | "step_time" | "tool_time" | "deadline">
> = {
  RECURSION_LIMIT: "recursion",
  RUN_TIMEOUT: "run_time",
  STEP_TIMEOUT: "step_time",
  TOOL_TIMEOUT: "tool_time",
  DEADLINE_EXCEEDED: "deadline",
};

/**
 * Counts a change of a run of which this process was the first to tell the indexes: whoever committed it may have died
 * right after, and then the one that finds it counts it.
 */
export function countNews(metrics: Metrics, t: Transition): void {
  const { agent, status, code } = t;
  if (t.raised.length > 0) metrics.inc("drover_interrupts_raised_total", { agent }, t.raised.length);
  if (!isFinal(status)) return;
  metrics.inc("drover_runs_total", { agent, outcome: status });
  metrics.observe("drover_run_duration_seconds", { agent, outcome: status }, (t.at - t.createdAt) / 1000);
  if (t.endedBy) metrics.inc("drover_run_endings_total", { agent, ended_by: t.endedBy });
  if (!code || status === "cancelled") return;
  metrics.inc("drover_run_failures_total", { agent, code });
  if (DEAD_LETTER_CODES.has(code)) metrics.inc("drover_dead_letters_total", { agent, code });
  const limit = LIMIT_OF[code];
  if (limit) metrics.inc("drover_limit_hits_total", { agent, limit, scope: "run" });
}
