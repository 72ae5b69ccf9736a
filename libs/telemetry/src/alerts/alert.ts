/** One alert. docs/runbooks.md has a section with its name. */
export interface Alert {
  name: string;
  /** critical: somebody looks now. warning: somebody looks today. */
  severity: "critical" | "warning";
  expr: string;
  /** For how long it must hold before anybody is told, as Prometheus writes it. */
  holds: string;
  /** One line; may name labels as `{{ $labels.agent }}`. */
  summary: string;
  /** What lists the runs, approvals or workers behind it: a command of `drover`. */
  command: string;
}

export interface AlertGroup {
  name: string;
  alerts: readonly Alert[];
}
