import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { metricsPage } from "./metrics-page.js";
import { METRICS } from "./metrics-table.js";

it("docs/metrics.md is what the table says", () => {
  const page = readFileSync(new URL("../../../docs/metrics.md", import.meta.url), "utf8");
  expect(page, "build, then run: node libs/telemetry/dist/write-metrics-page.js").toBe(metricsPage());
});

it("has a row for each metric, and queries only of metrics that exist", () => {
  const page = metricsPage();
  for (const name of Object.keys(METRICS)) expect(page).toContain(`| \`${name}\` |`);
  for (const [name] of page.matchAll(/drover_[a-z_]+/g)) {
    expect(METRICS).toHaveProperty(name.replace(/_(?:bucket|sum|count)$/, ""));
  }
});
