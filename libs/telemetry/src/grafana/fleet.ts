import { AGENT, type DashboardSpec, ofAgent, quantile, rate, share } from "./panel.js";

const FAILED = 'outcome=~"error|timeout"';
const failedShare = (by: string) =>
  share(
    `sum ${by} (${rate(`drover_runs_total${ofAgent(FAILED)}`)})`,
    `sum ${by} (${rate(`drover_runs_total${AGENT}`)})`,
  );

/** Does the fleet keep up? */
export const fleet: DashboardSpec = {
  uid: "drover-fleet",
  title: "Drover: fleet",
  question: "Does the fleet keep up, and if not, what holds it up?",
  variables: ["agent"],
  rows: [
    {
      title: "Now",
      panels: [
        {
          title: "Workers",
          shows: "Workers that said within their lease that they live.",
          act: "Fewer than you started: look at the missing one's last log lines, then at its memory limit and its node. None: nothing is worked on.",
          command: "drover queue stats",
          kind: "stat",
          redUpTo: 0,
          queries: [{ expr: "max(drover_workers)" }],
        },
        {
          title: "Oldest waiting run",
          shows: "How long the run that waits longest for a worker has waited.",
          act: "Above your promise: add workers, or raise DROVER_CONCURRENCY while their event loop has room.",
          command: "drover runs list --status pending --limit 1000",
          kind: "stat",
          unit: "s",
          redFrom: 300,
          queries: [{ expr: "max(drover_oldest_waiting_run_age_seconds)" }],
        },
        {
          title: "Slots in use",
          shows: "The share of all workers' slots that execute a run.",
          act: "At 100 % and runs wait: add workers. Low and runs wait: look whether something is paused, or whether a limit of concurrent runs holds them.",
          command: "drover queue stats",
          kind: "stat",
          unit: "percentunit",
          queries: [{ expr: "sum(drover_worker_slots_in_use) / sum(drover_worker_slots)" }],
        },
        {
          title: "Failing runs",
          shows: "The share of ended runs that ended with an error or out of time.",
          emptyWhile: "Empty while no run ends.",
          act: "Look below which code grows; docs/errors.md says for each what to do.",
          command: "drover runs list --status error --limit 1000",
          kind: "stat",
          unit: "percentunit",
          redFrom: 0.1,
          queries: [{ expr: failedShare("") }],
        },
        {
          title: "Dead letters",
          shows:
            "Runs that were set aside: their worker died of them several times, or no worker has their agent.",
          act: "Look at each, mend the cause, replay them.",
          command: "drover dead-letters list --limit 1000",
          kind: "stat",
          redFrom: 1,
          queries: [{ expr: "max(drover_dead_letters)" }],
        },
        {
          title: "Pauses",
          shows: "Pauses that are on: of everything, a tenant, an agent or a batch.",
          act: "Somebody set each of them. Let go on what need not wait any more: drover queue resume.",
          command: "drover queue stats",
          kind: "stat",
          redFrom: 1,
          queries: [{ expr: "max(drover_paused_scopes)" }],
        },
      ],
    },
    {
      title: "Does it keep up?",
      panels: [
        {
          title: "Runs that wait, and why",
          shows:
            "ready: for a worker; delayed: for their time; turn: behind their thread's run or in line for a limit; paused.",
          act: "ready grows: add workers. turn grows: one thread or one limit gets more than it can take; drover runs show <id> says which.",
          command: "drover runs list --status pending --limit 1000",
          kind: "lines",
          queries: [{ expr: "max by (why) (drover_waiting_runs)", legend: "{{why}}" }],
        },
        {
          title: "Wait for a worker",
          shows: "How long activations that could start waited for a worker.",
          emptyWhile: "Empty while no run is taken.",
          act: "p95 above your promise: add workers; KEDA does it by itself where k8s/ is deployed.",
          command: "drover runs list --status pending --limit 1000",
          kind: "lines",
          unit: "s",
          queries: [0.5, 0.95, 0.99].map((q) => ({
            expr: quantile(q, "drover_queue_wait_seconds", "", AGENT),
            legend: `p${q * 100}`,
          })),
        },
        {
          title: "Runs that ended",
          shows: "Runs a second that reached a final state, by outcome.",
          act: "Nothing ends and runs wait: see 'Slots in use' and the health checks. error or timeout grows: see the codes below.",
          command: "drover runs list --status success --limit 50",
          kind: "lines",
          unit: "ops",
          queries: [
            { expr: `sum by (outcome) (${rate(`drover_runs_total${AGENT}`)})`, legend: "{{outcome}}" },
          ],
        },
        {
          title: "Runs that Redis holds",
          shows: "All runs that are kept, by status. Ended ones go after a week.",
          act: "interrupted grows: people are asked more than they answer, see Approvals and effects.",
          command: "drover runs list --status interrupted --limit 1000",
          kind: "lines",
          queries: [{ expr: "max by (status) (drover_runs)", legend: "{{status}}" }],
        },
        {
          title: "Slots by worker",
          shows: "Runs that each worker executes.",
          act: "One is full while others are idle for long: look at its health checks and its event loop.",
          command: "drover queue stats",
          kind: "lines",
          queries: [{ expr: "sum by (instance) (drover_worker_slots_in_use)", legend: "{{instance}}" }],
        },
        {
          title: "Time that activations hold a slot",
          shows: "How long one activation of a run occupies a worker's slot, by what it came to.",
          emptyWhile: "Empty while none ends.",
          act: "It grows: models or tools got slower, see Agents and models.",
          command: "drover runs list --status running --limit 1000",
          kind: "lines",
          unit: "s",
          queries: [
            {
              expr: quantile(0.95, "drover_activation_duration_seconds", "outcome", AGENT),
              legend: "p95 {{outcome}}",
            },
          ],
        },
      ],
    },
    {
      title: "What went wrong",
      panels: [
        {
          title: "Failures by code",
          shows: "Runs that ended with an error or out of time, by the code of what ended them.",
          act: "docs/errors.md has a section for each code.",
          command: "drover runs list --status error --code <code> --limit 1000",
          kind: "bars",
          queries: [
            {
              expr: `sum by (code) (increase(drover_run_failures_total${AGENT}[$__rate_interval]))`,
              legend: "{{code}}",
            },
          ],
        },
        {
          title: "Second tries",
          shows: "Retries of model calls, tool calls and whole runs.",
          act: "model: the provider fails or limits the rate. tool: the tool's other side fails. run: both for longer than a worker waits.",
          command: "drover runs list --status pending --limit 1000",
          kind: "lines",
          unit: "ops",
          queries: [
            { expr: `sum by (layer) (${rate(`drover_retries_total${AGENT}`)})`, legend: "{{layer}}" },
          ],
        },
        {
          title: "Repairs",
          shows: "What a crash or a broken connection left behind and the sweeper finished.",
          act: "takeover: a worker died or stood still with runs in hand, look at its log. pointer or outbox, again and again: Redis loses connections.",
          command: "drover queue stats",
          kind: "bars",
          queries: [
            {
              expr: "sum by (repair) (increase(drover_sweeper_repairs_total[$__rate_interval]))",
              legend: "{{repair}}",
            },
          ],
        },
        {
          title: "Leases lost and writes refused",
          shows:
            "Threads that others took over while a worker worked on them, and what Redis refused it after that.",
          act: "The worker stood still for longer than its lease: see its event loop. Nothing was written twice.",
          command: "drover queue stats",
          kind: "lines",
          unit: "ops",
          queries: [
            { expr: `sum(${rate("drover_leases_lost_total")})`, legend: "leases lost" },
            { expr: `sum(${rate("drover_stale_writes_refused_total")})`, legend: "writes refused" },
          ],
        },
        {
          title: "Event loop",
          shows: "How late a timer of each worker is, p99.",
          act: "Above a second heartbeats are in danger: lower DROVER_CONCURRENCY, or take work that blocks (parsing, hashing) out of the agent's process.",
          command: "drover queue stats",
          kind: "lines",
          unit: "s",
          redFrom: 1,
          queries: [
            { expr: quantile(0.99, "drover_event_loop_lag_seconds", "instance"), legend: "{{instance}}" },
          ],
        },
        {
          title: "Health checks",
          shows: "0 where a check behind /healthz fails.",
          act: "The check's name says what stands still; curl <worker>/healthz says why. Kubernetes restarts such a worker.",
          command: "drover doctor",
          kind: "lines",
          queries: [
            { expr: "min by (instance, check) (drover_health_check_ok)", legend: "{{instance}} {{check}}" },
          ],
        },
        {
          title: "Runs that were set aside",
          shows: "Runs that became dead letters, by agent and code.",
          act: "POISONED: a document kills its worker. AGENT_NOT_AVAILABLE: no worker has the agent.",
          command: "drover dead-letters list --limit 1000",
          kind: "bars",
          queries: [
            {
              expr: `sum by (agent, code) (increase(drover_dead_letters_total${AGENT}[$__rate_interval]))`,
              legend: "{{agent}} {{code}}",
            },
          ],
        },
        {
          title: "Versions",
          shows: "Which version of Drover and of Node the workers run.",
          act: "More than one for longer than an update takes: the update did not go through.",
          command: "drover queue stats",
          kind: "table",
          queries: [{ expr: "count by (version, node) (drover_build_info)" }],
        },
      ],
    },
  ],
};
