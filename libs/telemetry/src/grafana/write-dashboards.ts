import { writeFileSync } from "node:fs";
import { buildDashboard } from "./dashboard.js";
import { DASHBOARDS } from "./dashboards.js";

/** Writes grafana/dashboards of the repository that this build stands in. */
for (const spec of DASHBOARDS) {
  const file = new URL(`../../../../grafana/dashboards/${spec.uid}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(buildDashboard(spec), null, 2)}\n`);
}
