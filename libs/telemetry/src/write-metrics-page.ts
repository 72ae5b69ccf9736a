import { writeFileSync } from "node:fs";
import { metricsPage } from "./metrics-page.js";

/** Writes docs/metrics.md of the repository that this build stands in. */
writeFileSync(new URL("../../../docs/metrics.md", import.meta.url), metricsPage());
