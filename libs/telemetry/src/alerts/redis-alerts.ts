import type { AlertGroup } from "./alert.js";

/** Redis fills up, loses what it has, or is slow. */
export const redisAlerts: AlertGroup = {
  name: "drover-redis",
  alerts: [
    {
      name: "DroverRedisMemory",
      severity: "critical",
      expr: "max(drover_redis_memory_used_bytes) / max(drover_redis_memory_max_bytes) > 0.8",
      holds: "2m",
      summary:
        "Redis has used {{ $value | humanizePercentage }} of its memory; when it is full, nothing is accepted",
      command: "drover doctor",
    },
    {
      name: "DroverRedisCannotPersist",
      severity: "critical",
      expr: "min(drover_redis_can_persist) == 0",
      holds: "1m",
      summary: "Redis cannot write to its disk: what is accepted now is lost if it restarts",
      command: "drover doctor",
    },
    {
      name: "DroverRedisEvicts",
      severity: "critical",
      expr: "max(drover_redis_evicted_keys) > 0",
      holds: "0m",
      summary: "Redis threw {{ $value }} keys away to make room: runs, threads or counters are gone",
      command: "drover doctor",
    },
    {
      name: "DroverRedisSlow",
      severity: "warning",
      expr: "histogram_quantile(0.99, sum by (le) (rate(drover_redis_round_trip_seconds_bucket[5m]))) > 0.5",
      holds: "5m",
      summary: "Redis answers within {{ $value | humanizeDuration }} (p99)",
      command: "drover doctor",
    },
  ],
};
