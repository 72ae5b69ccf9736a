import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TableBuilder } from "@grafana/grafana-foundation-sdk/table";
import { PanelBuilder as SeriesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import type { DashboardSpec, PanelSpec, Variable } from "./panel.js";

const PROMETHEUS = { type: "prometheus", uid: "$datasource" };
const COLUMNS = 24;

/** Where the values of a variable come from. */
const VALUES: Record<Variable, string> = {
  agent: "label_values(drover_runs_total, agent)",
  tenant: "label_values(drover_model_cost_dollars_total, tenant)",
  model: "label_values(drover_model_calls_total, model)",
};

/** The dashboard as Grafana reads it, schema version 42. */
export function buildDashboard(spec: DashboardSpec): Dashboard {
  const builder = new DashboardBuilder(spec.title)
    .uid(spec.uid)
    .description(spec.question)
    .tags(["drover"])
    .refresh("30s")
    .time({ from: "now-3h", to: "now" })
    .readonly()
    .withVariable(new DatasourceVariableBuilder("datasource").label("Prometheus").type("prometheus"));
  for (const name of spec.variables) builder.withVariable(variable(name));
  let id = 0;
  for (const row of spec.rows) {
    builder.withRow(new RowBuilder(row.title).id(++id));
    const isStats = row.panels.every((panel) => panel.kind === "stat");
    for (const panel of row.panels) {
      const width = isStats ? Math.floor(COLUMNS / row.panels.length) : COLUMNS / 3;
      builder.withPanel(
        panelOf(panel)
          .id(++id)
          .span(width)
          .height(isStats ? 5 : 8),
      );
    }
  }
  return builder.build();
}

/** What Grafana shows behind the panel's (i). */
export const describePanel = ({ shows, emptyWhile, act, command }: PanelSpec): string =>
  `${emptyWhile ? `${shows} ${emptyWhile}` : shows}\n\n**What to do:** ${act}\n\n**What is behind it:** \`${command}\``;

function panelOf(spec: PanelSpec): SeriesBuilder | StatBuilder | TableBuilder {
  const panel = {
    lines: () => new SeriesBuilder(),
    bars: () => new SeriesBuilder().fillOpacity(60).lineWidth(0),
    stat: () => new StatBuilder(),
    table: () => new TableBuilder(),
  }[spec.kind]();
  panel
    .title(spec.title)
    .description(describePanel(spec))
    .datasource(PROMETHEUS)
    .unit(spec.unit ?? "short")
    .min(0);
  if (spec.redFrom !== undefined) panel.thresholds(steps("green", spec.redFrom, "red"));
  if (spec.redUpTo !== undefined) panel.thresholds(steps("red", spec.redUpTo + 1, "green"));
  spec.queries.forEach(({ expr, legend }, i) => {
    const query = new DataqueryBuilder()
      .expr(expr)
      .refId(String.fromCharCode(65 + i))
      .datasource(PROMETHEUS);
    if (legend !== undefined) query.legendFormat(legend);
    panel.withTarget(spec.kind === "table" ? query.instant().format(PromQueryFormat.Table) : query);
  });
  return panel;
}

function steps(below: string, from: number, above: string): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { value: null, color: below },
    { value: from, color: above },
  ]);
}

function variable(name: Variable): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(name)
    .query(VALUES[name])
    .datasource(PROMETHEUS)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true)
    .includeAll(true)
    .allValue(".*")
    .current({ selected: true, text: "All", value: "$__all" });
}
