import { AGENT, type DashboardSpec, inRange, ofAgent, orZero, rate } from "./panel.js";

/** What waits for people, and what nobody knows about the world. */
export const approvals: DashboardSpec = {
  uid: "drover-approvals",
  title: "Drover: approvals and effects",
  question: "What waits for a person, and which effects does nobody know about?",
  variables: ["agent"],
  rows: [
    {
      title: "Now",
      panels: [
        {
          title: "Questions that wait",
          shows: "Questions to people that have no answer yet. They hold no worker's slot.",
          act: "Answer them, oldest first.",
          command: "drover approvals list --limit 1000",
          kind: "stat",
          redFrom: 50,
          queries: [{ expr: "max(drover_interrupts_pending)" }],
        },
        {
          title: "Oldest question",
          shows: "How long the oldest one has waited.",
          act: "Nobody looks: tell the reviewers, or give the rule an expiry (policy.approvals.expiresMs) and somebody to escalate to.",
          command: "drover approvals list --limit 1",
          kind: "stat",
          unit: "s",
          redFrom: 86_400,
          queries: [{ expr: "max(drover_oldest_interrupt_age_seconds)" }],
        },
        {
          title: "About to expire",
          shows:
            "Questions whose time is over within 15 minutes: then the policy decides in the reviewer's place.",
          act: "Answer them now, or the clock does.",
          command: "drover approvals list --limit 1000",
          kind: "stat",
          redFrom: 1,
          queries: [{ expr: "max(drover_interrupts_expiring)" }],
        },
        {
          title: "Effects that nobody knows",
          shows:
            "Calls of tools marked once that were started and whose outcome is unknown, in the time shown.",
          act: "Look on the other side what became of each, then retry the run, or give the tool a hook with withReconcile().",
          command: "drover runs list --status error --code EFFECT_UNKNOWN --limit 1000",
          kind: "stat",
          redFrom: 1,
          queries: [{ expr: orZero(`sum(${inRange(`drover_effects_unknown_total${AGENT}`)})`) }],
        },
      ],
    },
    {
      title: "Approvals",
      panels: [
        {
          title: "Asked and answered",
          shows: "Questions that were raised and answered, a second.",
          act: "More are raised than answered for long: more reviewers, or a rule that asks less (policy.approvals.when).",
          command: "drover approvals watch",
          kind: "lines",
          unit: "ops",
          queries: [
            { expr: `sum(${rate(`drover_interrupts_raised_total${AGENT}`)})`, legend: "raised" },
            {
              expr: orZero(`sum(${rate(`drover_interrupts_answered_total${AGENT}`)})`),
              legend: "answered",
            },
          ],
        },
        {
          title: "Decisions",
          shows: "What was decided, by agent.",
          emptyWhile: "Empty while nobody has answered.",
          act: "Everything is approved: the rule may ask too much. Much is edited or rejected: the agent needs better instructions.",
          command: "drover approvals show <approval id>",
          kind: "bars",
          queries: [
            {
              expr: `sum by (agent, decision) (increase(drover_interrupts_answered_total${AGENT}[$__rate_interval]))`,
              legend: "{{agent}} {{decision}}",
            },
          ],
        },
        {
          title: "Expired",
          shows: "Questions whose time was over, by what the policy did.",
          act: "fail: retry those runs to ask again. reject, approve: the clock decided, not a person.",
          command: "drover runs list --status error --code APPROVAL_EXPIRED --limit 1000",
          kind: "bars",
          queries: [
            {
              expr: `sum by (agent, action) (increase(drover_interrupts_expired_total${AGENT}[$__rate_interval]))`,
              legend: "{{agent}} {{action}}",
            },
          ],
        },
        {
          title: "Runs that wait for a person",
          shows: "Runs whose status is interrupted.",
          act: "Each has one question or more.",
          command: "drover runs list --status interrupted --limit 1000",
          kind: "lines",
          queries: [{ expr: 'max(drover_runs{status="interrupted"})', legend: "interrupted" }],
        },
      ],
    },
    {
      title: "Effects and those who are told",
      panels: [
        {
          title: "Results that were replayed",
          shows: "Calls of tools marked once that had been made before: the kept result was given.",
          act: "Nothing to do: this is what once is for. It grows with crashes and hand-overs.",
          command: "drover runs list --agent <agent> --limit 1000",
          kind: "lines",
          queries: [
            {
              expr: orZero(
                `sum(increase(drover_tool_calls_total${ofAgent('outcome="replayed"')}[$__rate_interval]))`,
              ),
              legend: "replayed",
            },
          ],
        },
        {
          title: "Unknown effects by tool",
          shows: "Which agent and which tool they were of.",
          emptyWhile: "Empty without tools marked once.",
          act: "A tool that appears again and again needs a hook: withReconcile().",
          command: "drover runs list --status error --code EFFECT_UNKNOWN --agent <agent> --limit 1000",
          kind: "bars",
          queries: [
            {
              expr: `sum by (agent, tool) (increase(drover_effects_unknown_total${AGENT}[$__rate_interval]))`,
              legend: "{{agent}} {{tool}}",
            },
          ],
        },
        {
          title: "Webhooks",
          shows: "Tries to post a webhook, by whether its receiver took it.",
          act: "failed grows: the receiver is down or refuses the signature.",
          command: "drover webhooks list --limit 1000",
          kind: "lines",
          unit: "reqps",
          queries: [{ expr: `sum by (outcome) (${rate("drover_webhooks_total")})`, legend: "{{outcome}}" }],
        },
        {
          title: "Notices that nobody read",
          shows: "Notices that went from their reply queue unread, because they were too many or too old.",
          act: "Its reader is down or too slow: the worker's log names the queue. What runs came to is still there.",
          command: "drover runs list --limit 1000",
          kind: "bars",
          queries: [
            {
              expr: orZero("sum(increase(drover_notices_dropped_total[$__rate_interval]))"),
              legend: "dropped",
            },
          ],
        },
        {
          title: "Messages of other services",
          shows: "Messages of the inbox, by type and what became of them.",
          act: "refused grows: a service sends what does not fit; the reasons are kept.",
          command: "drover messages list --limit 1000",
          kind: "lines",
          unit: "ops",
          queries: [
            {
              expr: `sum by (type, outcome) (${rate("drover_messages_total")})`,
              legend: "{{type}} {{outcome}}",
            },
          ],
        },
      ],
    },
  ],
};
