import { stringify } from "yaml";
import { ruleGroups } from "./alerts.js";

const HEAD =
  "# Made from libs/telemetry/src/alerts. After a change there, build and run:\n# node libs/telemetry/dist/alerts/write-alerts.js\n";

/** The files that hold the alerts, by path in the repository. */
export function alertFiles(): Record<string, string> {
  const rule = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "drover" },
    spec: { groups: ruleGroups() },
  };
  const text = (value: object) => HEAD + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
  return {
    "infra/prometheus/alerts.yml": text({ groups: ruleGroups() }),
    "k8s/monitoring/prometheus-rule.yaml": text(rule),
  };
}
