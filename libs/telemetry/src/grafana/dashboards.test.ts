import { describe, expect, it } from "vitest";
import { METRICS } from "../metrics-table.js";
import { isKnownCommand, repositoryFile, unknownMetrics } from "../testing/repository.js";
import { buildDashboard } from "./dashboard.js";
import { DASHBOARDS } from "./dashboards.js";

describe.each(DASHBOARDS)("$uid", (spec) => {
  const panels = spec.rows.flatMap((row) => row.panels);

  it("is what its file says", () => {
    expect(
      JSON.parse(repositoryFile(`grafana/dashboards/${spec.uid}.json`)),
      "build, then run: node libs/telemetry/dist/grafana/write-dashboards.js",
    ).toEqual(JSON.parse(JSON.stringify(buildDashboard(spec))));
  });

  it.each(panels)(
    "$title: says what to do and what lists what is behind it",
    ({ shows, emptyWhile, act, command }) => {
      expect(shows).toMatch(/^\S.{20,}\.$/);
      if (emptyWhile !== undefined) expect(emptyWhile).toMatch(/^\S.{15,}\.$/);
      expect(act).toMatch(/^\S.{15,}\.$/);
      expect(isKnownCommand(command), command).toBe(true);
    },
  );

  it("asks only for metrics that exist, by variables that it has", () => {
    for (const { queries } of panels) {
      for (const { expr } of queries) {
        expect(unknownMetrics(expr), expr).toEqual([]);
        const used = [...expr.matchAll(/\$([a-z]+)/g)].map(([, name]) => name);
        for (const name of used) expect(spec.variables, expr).toContain(name);
      }
    }
  });

  it("has no two panels of one name, and ids that differ", () => {
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const ids = (buildDashboard(spec).panels ?? []).map((panel) => panel.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

it("every metric is on a dashboard", () => {
  const shown = JSON.stringify(DASHBOARDS);
  expect(Object.keys(METRICS).filter((name) => !shown.includes(name))).toEqual([]);
});
