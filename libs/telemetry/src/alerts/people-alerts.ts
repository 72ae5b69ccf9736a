import type { AlertGroup } from "./alert.js";

/** People and other services wait, or are waited for. */
export const peopleAlerts: AlertGroup = {
  name: "drover-people",
  alerts: [
    {
      name: "DroverApprovalsExpire",
      severity: "warning",
      expr: "max(drover_interrupts_expiring) > 0",
      holds: "1m",
      summary: "The time of {{ $value }} approvals is over within 15 minutes",
      command: "drover approvals list --limit 1000",
    },
    {
      name: "DroverApprovalsPileUp",
      severity: "warning",
      expr: "max(drover_interrupts_pending) > 100 or max(drover_oldest_interrupt_age_seconds) > 86400",
      holds: "15m",
      summary: "Approvals pile up, or one has waited for more than a day",
      command: "drover approvals list --limit 1000",
    },
    {
      name: "DroverWebhooksGivenUp",
      severity: "warning",
      expr: "max(drover_webhooks_given_up) > 0",
      holds: "1m",
      summary: "{{ $value }} webhooks were given up and wait to be replayed",
      command: "drover webhooks list --limit 1000",
    },
    {
      name: "DroverMessagesRefused",
      severity: "warning",
      expr: 'sum by (type) (increase(drover_messages_total{outcome="refused"}[15m])) > 0',
      holds: "0m",
      summary: "Messages of the type {{ $labels.type }} were refused",
      command: "drover messages list --limit 1000",
    },
  ],
};
