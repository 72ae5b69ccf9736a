import type { Alert, AlertGroup } from "./alert.js";
import { fleetAlerts } from "./fleet-alerts.js";
import { peopleAlerts } from "./people-alerts.js";
import { redisAlerts } from "./redis-alerts.js";
import { runAlerts } from "./run-alerts.js";

export const ALERT_GROUPS: readonly AlertGroup[] = [fleetAlerts, runAlerts, peopleAlerts, redisAlerts];
export const ALERTS: readonly Alert[] = ALERT_GROUPS.flatMap((group) => group.alerts);

/** The rules as Prometheus reads them, and as the PrometheusRule of k8s/ holds them. */
export function ruleGroups(): object[] {
  return ALERT_GROUPS.map(({ name, alerts }) => ({
    name,
    rules: alerts.map((alert) => ({
      alert: alert.name,
      expr: alert.expr,
      for: alert.holds,
      labels: { severity: alert.severity },
      annotations: {
        summary: alert.summary,
        command: alert.command,
        runbook: `docs/runbooks.md#${alert.name.toLowerCase()}`,
      },
    })),
  }));
}
