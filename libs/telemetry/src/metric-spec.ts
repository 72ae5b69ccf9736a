/** One metric, as it is published. Dashboards and alerts depend on these names: renaming one breaks them. */
export interface MetricSpec {
  type: "counter" | "gauge" | "histogram";
  /** The page's section. */
  group:
    | "Runs"
    | "Models"
    | "Tools"
    | "Approvals"
    | "Messages"
    | "Privacy"
    | "Faults and repairs"
    | "Processes"
    | "Redis";
  /** What one of it is; the name's suffix says the same where it is `_seconds`. */
  unit: string;
  labels: readonly string[];
  /** The only values that a label has; a label that is not here is open and bounded in number. */
  values?: Readonly<Record<string, readonly string[]>>;
  /** Histograms only: upper bounds in the metric's unit. */
  buckets?: readonly number[];
  /** `fleet`: about the whole fleet, exported by one worker at a time; take the maximum, which is free of its address. */
  scope?: "fleet";
  help: string;
}
