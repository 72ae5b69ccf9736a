import { writeFileSync } from "node:fs";
import { alertFiles } from "./alert-files.js";

/** Writes the rules into the repository that this build stands in: for Prometheus, and for Kubernetes. */
for (const [path, text] of Object.entries(alertFiles())) {
  writeFileSync(new URL(`../../../../${path}`, import.meta.url), text);
}
