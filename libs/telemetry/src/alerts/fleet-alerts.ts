import type { AlertGroup } from "./alert.js";

/** The queue grows, nothing moves, somebody is gone. */
export const fleetAlerts: AlertGroup = {
  name: "drover-fleet",
  alerts: [
    {
      name: "DroverNoWorkers",
      severity: "critical",
      // One worker tells of the fleet: while another takes that over, nobody does.
      expr: "absent_over_time(drover_workers[2m]) or max(drover_workers) == 0",
      holds: "1m",
      summary: "No worker says that it lives, or none is scraped: nothing is worked on",
      command: "drover queue stats",
    },
    {
      name: "DroverWorkerUnreachable",
      severity: "warning",
      expr: 'up{job="drover"} == 0',
      holds: "2m",
      summary: "{{ $labels.instance }} does not answer on /metrics",
      command: "drover queue stats",
    },
    {
      name: "DroverRunsTakenOver",
      severity: "warning",
      expr: 'sum(increase(drover_sweeper_repairs_total{repair="takeover"}[10m])) > 0',
      holds: "0m",
      summary: "A worker died or stood still with runs in hand; others have taken them over",
      command: "drover runs list --taken-over --limit 1000",
    },
    {
      name: "DroverBacklogGrows",
      severity: "warning",
      expr: 'max(drover_waiting_runs{why="ready"}) > 100 and deriv(max(drover_waiting_runs{why="ready"})[15m:1m]) > 0',
      holds: "15m",
      summary: "{{ $value }} runs wait for a worker, and more come than are worked on",
      command: "drover runs list --status pending --limit 1000",
    },
    {
      name: "DroverOldestRunTooOld",
      severity: "critical",
      expr: "max(drover_oldest_waiting_run_age_seconds) > 300",
      holds: "1m",
      summary: "A run has waited for a worker for {{ $value | humanizeDuration }}",
      command: "drover runs list --status pending --limit 1000",
    },
    {
      name: "DroverNoProgress",
      severity: "critical",
      expr: 'max(drover_waiting_runs{why="ready"}) > 0 and (sum(rate(drover_activation_duration_seconds_count[10m])) or vector(0)) == 0',
      holds: "10m",
      summary: "Runs could start, and for ten minutes no worker has ended anything",
      command: "drover runs list --status running --limit 1000",
    },
    {
      name: "DroverWorkerUnhealthy",
      severity: "critical",
      expr: "min by (instance, check) (drover_health_check_ok) == 0",
      holds: "2m",
      summary: "{{ $labels.instance }} fails its health check '{{ $labels.check }}'",
      command: "drover queue stats",
    },
    {
      name: "DroverEventLoopBlocked",
      severity: "warning",
      // While it is blocked, nobody can scrape it: `for` would begin anew with each gap.
      expr: "histogram_quantile(0.99, sum by (instance, le) (rate(drover_event_loop_lag_seconds_bucket[10m]))) > 1",
      holds: "0m",
      summary: "{{ $labels.instance }} is late by {{ $value | humanizeDuration }}: its leases are in danger",
      command: "drover runs list --taken-over --limit 1000",
    },
    {
      name: "DroverLeasesLost",
      severity: "warning",
      expr: "sum by (instance) (increase(drover_leases_lost_total[15m])) > 0",
      holds: "0m",
      summary: "{{ $labels.instance }} lost threads to others while it worked on them",
      command: "drover runs list --taken-over --limit 1000",
    },
    {
      name: "DroverDeadLetters",
      severity: "warning",
      expr: "max(drover_dead_letters) > 0",
      holds: "1m",
      summary: "{{ $value }} runs were set aside and wait for somebody",
      command: "drover dead-letters list --limit 1000",
    },
  ],
};
