import { type Activation, DECISION_TYPES } from "@drover/contracts";
import type { Metrics } from "@drover/telemetry";

type Label = (typeof DECISION_TYPES)[number] | "value" | "mixed";

/**
 * Counts the answers that a resume brings. Each is taken by one resume, whoever gave it and wherever; a takeover that
 * needs them again is another kind of activation.
 */
export function countAnswers(metrics: Metrics, { kind, agent, resume }: Activation): void {
  if (kind !== "resume" || !resume) return;
  for (const value of Object.values(resume.values)) {
    metrics.inc("drover_interrupts_answered_total", { agent, decision: labelOf(value) });
  }
}

function labelOf(value: unknown): Label {
  const decisions =
    typeof value === "object" && value !== null && "decisions" in value ? value.decisions : null;
  if (!Array.isArray(decisions)) return "value";
  const types = new Set(decisions.map((decision: { type?: unknown }) => decision?.type));
  const [only] = types;
  return types.size === 1 ? (DECISION_TYPES.find((type) => type === only) ?? "value") : "mixed";
}
