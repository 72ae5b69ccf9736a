import { type DashboardSpec, quantile, rate } from "./panel.js";

/** What lies in the queues, and how Redis is. */
export const queue: DashboardSpec = {
  uid: "drover-queue",
  title: "Drover: queue and Redis",
  question: "What lies in the queues, and does Redis have room and answer in time?",
  variables: [],
  rows: [
    {
      title: "Redis",
      panels: [
        {
          title: "Memory of Redis",
          shows:
            "What Redis uses, and its own limit where it has one. When it is full, Redis refuses writes and nothing new is accepted.",
          emptyWhile: "There is no line for the limit where Redis has none.",
          act: "Above 80 %: raise maxmemory, or shorten what is kept; ended runs go after a week. Never set an eviction policy.",
          command: "drover doctor",
          kind: "lines",
          unit: "bytes",
          queries: [
            { expr: "max(drover_redis_memory_used_bytes)", legend: "used" },
            { expr: "max(drover_redis_memory_max_bytes)", legend: "limit" },
          ],
        },
        {
          title: "Redis can write to its disk",
          shows: "1 while the last write of the append-only file or of a snapshot succeeded.",
          act: "0: free space on Redis's disk at once. What was accepted since is lost if Redis restarts.",
          command: "drover doctor",
          kind: "stat",
          redUpTo: 0,
          queries: [{ expr: "min(drover_redis_can_persist)" }],
        },
        {
          title: "Keys that Redis threw away",
          shows: "Must be 0: whatever Redis evicts is a run, a thread or a counter.",
          act: "Set maxmemory-policy noeviction, and give Redis more memory.",
          command: "drover doctor",
          kind: "stat",
          redFrom: 1,
          queries: [{ expr: "max(drover_redis_evicted_keys)" }],
        },
        {
          title: "Round trip to Redis",
          shows:
            "From a worker's heartbeat to the answer, p50 and p99: network, Redis and the worker's own event loop.",
          act: "All workers grow: Redis or the network is slow. One grows: that worker is.",
          command: "drover doctor",
          kind: "lines",
          unit: "s",
          redFrom: 0.5,
          queries: [0.5, 0.99].map((q) => ({
            expr: quantile(q, "drover_redis_round_trip_seconds"),
            legend: `p${q * 100}`,
          })),
        },
        {
          title: "Connections",
          shows: "Connections that Redis has, of everybody. A worker has six.",
          act: "It grows without workers: a producer opens clients and does not close them.",
          command: "drover doctor",
          kind: "lines",
          queries: [{ expr: "max(drover_redis_clients)", legend: "connections" }],
        },
        {
          title: "Processes that Prometheus reaches",
          shows: "1 for each worker whose /metrics answers.",
          act: "0: the process is gone, or its port is not reachable from Prometheus.",
          command: "drover queue stats",
          kind: "lines",
          queries: [{ expr: 'up{job="drover"}', legend: "{{instance}}" }],
        },
      ],
    },
    {
      title: "Queues",
      panels: [
        {
          title: "Runs that could start",
          shows: "Runs that wait for nothing but a worker. KEDA scales workers on this.",
          act: "It grows: add workers.",
          command: "drover runs list --status pending --limit 1000",
          kind: "lines",
          queries: [{ expr: 'max(drover_waiting_runs{why="ready"})', legend: "ready" }],
        },
        {
          title: "Messages that wait",
          shows: "Messages of other services that no worker has read.",
          act: "Workers read them beside their runs: it grows only where none works or Redis refuses writes.",
          command: "drover queue stats",
          kind: "lines",
          queries: [{ expr: "max(drover_inbox_messages)", legend: "inbox" }],
        },
        {
          title: "Webhooks that wait, and that were given up",
          shows: "Each is tried for more than half an hour, then kept for a week.",
          act: "Mend the receiver, then replay them: drover webhooks replay --all.",
          command: "drover webhooks list --limit 1000",
          kind: "lines",
          queries: [
            { expr: "max(drover_webhooks_waiting)", legend: "waiting" },
            { expr: "max(drover_webhooks_given_up)", legend: "given up" },
          ],
        },
        {
          title: "Open batches",
          shows: "Batches that have runs to end, or whose producer has not said that they are whole.",
          act: "One that does not end: look what its runs wait for.",
          command: "drover batches list",
          kind: "lines",
          queries: [{ expr: "max(drover_batches_open)", legend: "open" }],
        },
        {
          title: "Age of the oldest open batch",
          shows: "Since it was opened, or went on after its end.",
          act: "Far older than a batch should take: drover batches show <batch id>.",
          command: "drover batches list",
          kind: "lines",
          unit: "s",
          queries: [{ expr: "max(drover_oldest_open_batch_age_seconds)", legend: "oldest" }],
        },
        {
          title: "Runs in line for a limit",
          shows:
            "How often a run that was taken had to stand in line for a share of a limit of concurrent runs.",
          emptyWhile: "Empty while none had to, and without limits.",
          act: "One kind grows: raise that limit in the fleet's policy, or let it: it protects what is behind it.",
          command: "drover runs show <run id>",
          kind: "lines",
          unit: "ops",
          queries: [
            { expr: `sum by (kind) (${rate("drover_concurrency_waits_total")})`, legend: "{{kind}}" },
          ],
        },
      ],
    },
  ],
};
