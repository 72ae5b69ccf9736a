import type { AlertGroup } from "./alert.js";

const LIMITS = "model_call_limit|tool_call_limit";

/** Runs, models and tools fail. */
export const runAlerts: AlertGroup = {
  name: "drover-runs",
  alerts: [
    {
      name: "DroverRunsFail",
      severity: "warning",
      expr: 'sum by (agent) (increase(drover_runs_total{outcome=~"error|timeout"}[15m])) / sum by (agent) (increase(drover_runs_total[15m])) > 0.2 and sum by (agent) (increase(drover_runs_total[15m])) >= 5',
      holds: "5m",
      summary: "{{ $value | humanizePercentage }} of the runs of {{ $labels.agent }} fail",
      command: "drover runs list --status error --agent {{ $labels.agent }} --limit 1000",
    },
    {
      name: "DroverProviderFails",
      severity: "critical",
      expr: 'sum by (provider) (increase(drover_model_calls_total{outcome=~"MODEL_ERROR|MODEL_BAD_RESPONSE|MODEL_TIMEOUT"}[5m])) / sum by (provider) (increase(drover_model_calls_total[5m])) > 0.25 and sum by (provider) (increase(drover_model_calls_total[5m])) >= 5',
      holds: "2m",
      summary: "{{ $value | humanizePercentage }} of the calls to {{ $labels.provider }} fail",
      command: "drover runs list --status error --code MODEL_ERROR --limit 1000",
    },
    {
      name: "DroverProviderLimitsRate",
      severity: "warning",
      expr: 'sum by (provider) (increase(drover_model_calls_total{outcome="MODEL_RATE_LIMITED"}[5m])) / sum by (provider) (increase(drover_model_calls_total[5m])) > 0.2 and sum by (provider) (increase(drover_model_calls_total[5m])) >= 5',
      holds: "2m",
      summary: "{{ $labels.provider }} refuses {{ $value | humanizePercentage }} of the calls for their rate",
      command: "drover runs list --status error --code MODEL_RATE_LIMITED --limit 1000",
    },
    {
      name: "DroverProviderRefusesKey",
      severity: "critical",
      expr: 'sum by (provider) (increase(drover_model_calls_total{outcome="MODEL_AUTH"}[5m])) > 0',
      holds: "0m",
      summary: "{{ $labels.provider }} refuses the key",
      command: "drover runs list --status error --code MODEL_AUTH --limit 1000",
    },
    {
      name: "DroverProviderSlow",
      severity: "warning",
      expr: "histogram_quantile(0.95, sum by (model, le) (rate(drover_model_call_duration_seconds_bucket[10m]))) > 30",
      holds: "5m",
      summary: "{{ $labels.model }} takes more than half a minute (p95)",
      command: "drover runs list --status running --limit 1000",
    },
    {
      name: "DroverToolFails",
      severity: "warning",
      expr: 'sum by (agent, tool) (increase(drover_tool_calls_total{outcome="TOOL_ERROR"}[15m])) / sum by (agent, tool) (increase(drover_tool_calls_total[15m])) > 0.5 and sum by (agent, tool) (increase(drover_tool_calls_total[15m])) >= 5',
      holds: "5m",
      summary:
        "{{ $value | humanizePercentage }} of the calls of {{ $labels.tool }} by {{ $labels.agent }} fail",
      command: "drover runs list --agent {{ $labels.agent }} --limit 1000",
    },
    {
      name: "DroverLimitEndedRuns",
      severity: "warning",
      expr: `sum by (agent) (increase(drover_run_endings_total{ended_by=~"${LIMITS}"}[15m])) + sum by (agent) (increase(drover_limit_hits_total{limit=~"recursion|run_time|deadline"}[15m])) > 0`,
      holds: "0m",
      summary: "A limit ended runs of {{ $labels.agent }} before they were done",
      command:
        'drover runs list --agent {{ $labels.agent }} --limit 1000 --json | jq -r \'select((.endedBy // "completed") != "completed") | [.runId, .endedBy] | @tsv\'',
    },
    {
      name: "DroverEffectsUnknown",
      severity: "critical",
      expr: "sum by (agent, tool) (increase(drover_effects_unknown_total[1h])) > 0",
      holds: "0m",
      summary: "Nobody knows whether calls of {{ $labels.tool }} by {{ $labels.agent }} took effect",
      command:
        "drover runs list --status error --code EFFECT_UNKNOWN --agent {{ $labels.agent }} --limit 1000",
    },
  ],
};
