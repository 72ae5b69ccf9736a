import { ERROR_CODES } from "@drover/contracts";
import type { MetricSpec } from "./metric-spec.js";
import { METRICS } from "./metrics-table.js";

const HEAD = `# Metrics

A Drover worker serves its metrics at \`/metrics\` in Prometheus's text format. This page is made from the table in
\`libs/telemetry/src/metrics-table.ts\`; after a change there, build and run \`node libs/telemetry/dist/write-metrics-page.js\`.

- Names begin with \`drover_\`, units are base units: seconds, tokens, dollars. Counters end in \`_total\`.
- A histogram \`x\` is exported as \`x_bucket\`, \`x_sum\` and \`x_count\`.
- **(fleet)** marks a gauge about the whole fleet. One worker at a time exports it, the one that repairs what crashes left;
  take \`max(x)\`, which says nothing of who that is. All others are about one process: sum them.
- A gauge that was never set is absent, not 0.
- Labels never hold an id of a run, thread, user or tool call. A label without fixed values holds at most 200 distinct
  ones in a process, and only short names; whatever else comes is counted under \`other\`.
- A code is one of [the error codes](errors.md).

Some questions and their queries:

| question | query |
|---|---|
| Does the fleet keep up? | \`histogram_quantile(0.95, sum by (le) (rate(drover_queue_wait_seconds_bucket[5m])))\` |
| What share of runs fails, by agent? | \`sum by (agent) (rate(drover_runs_total{outcome=~"error|timeout"}[15m])) / sum by (agent) (rate(drover_runs_total[15m]))\` |
| Why do they fail? | \`topk(5, sum by (agent, code) (increase(drover_run_failures_total[1h])))\` |
| What does an agent cost an hour? | \`sum by (tenant, agent) (increase(drover_model_cost_dollars_total[1h]))\` |
| Which provider fails? | \`sum by (provider, model, outcome) (rate(drover_model_calls_total{outcome!="success"}[5m]))\` |
| How long has the oldest run waited? | \`max(drover_oldest_waiting_run_age_seconds)\` |
| How full are the workers? | \`sum(drover_worker_slots_in_use) / sum(drover_worker_slots)\` |
`;

/** docs/metrics.md, whole. A test compares the file with it. */
export function metricsPage(): string {
  const groups = new Map<string, string[]>();
  for (const [name, spec] of Object.entries(METRICS) as [string, MetricSpec][]) {
    const rows = groups.get(spec.group) ?? [];
    groups.set(spec.group, [...rows, row(name, spec)]);
  }
  const sections = [...groups].map(
    ([group, rows]) =>
      `## ${group}\n\n| name | type | labels | unit | meaning |\n|---|---|---|---|---|\n${rows.join("\n")}\n`,
  );
  return [HEAD, ...sections].join("\n");
}

function row(name: string, spec: MetricSpec): string {
  const labels = spec.labels.map((label) => {
    const values = spec.values?.[label];
    return values ? `\`${label}\`: ${listed(values)}` : `\`${label}\``;
  });
  const scope = spec.scope ? ` (${spec.scope})` : "";
  return `| \`${name}\` | ${spec.type} | ${labels.join("; ") || "none"} | ${spec.unit} | ${spec.help}${scope} |`;
}

function listed(values: readonly string[]): string {
  const words = values.filter((value) => !Object.hasOwn(ERROR_CODES, value));
  const codes = words.length < values.length ? ["a code"] : [];
  return [...words, ...codes].join(", ");
}
