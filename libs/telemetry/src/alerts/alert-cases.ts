/**
 * For each alert, series of a minute a sample in which it is quiet for ten minutes, has a reason for thirty, and none
 * afterwards. `a+bxn` is Prometheus's: a, then n more samples, each b greater.
 */
interface Case {
  alert: string;
  /** By series. */
  values: Record<string, string>;
}

const level = (good: number, bad: number) => `${good}x9 ${bad}x29 ${good}x90`;
/** A counter that grows in the bad time only. */
const grows = (by: number) => `0x9 ${by}+${by}x29 ${30 * by}x90`;
/** A counter that grows all the time. */
const steady = (by: number) => `0+${by}x130`;
const stops = (by: number) => `0+${by}x9 ${9 * by}x29 ${9 * by}+${by}x90`;

/** Buckets of which `late` gets everything in the bad time, and the one before it everything else. */
function slow(metric: string, labels: string, fast: string, late: string): Record<string, string> {
  const bucket = (le: string) => `${metric}_bucket{${labels}le="${le}"}`;
  return { [bucket(fast)]: stops(100), [bucket(late)]: steady(100), [bucket("+Inf")]: steady(100) };
}

const BACKLOG = { 'drover_waiting_runs{why="ready"}': "0x9 120+20x29 0x90" };
/** Each failure has a provider of its own. */
const calls = (provider: string, outcome: string) =>
  `drover_model_calls_total{agent="a",model="m",provider="${provider}",outcome="${outcome}"}`;
const failing = (outcome: string) => ({
  [calls(outcome, outcome)]: grows(5),
  [calls(outcome, "success")]: steady(5),
});

export const ALERT_CASES: readonly Case[] = [
  { alert: "DroverNoWorkers", values: { drover_workers: "2x9 _x30 2x90" } },
  { alert: "DroverWorkerUnreachable", values: { 'up{job="drover",instance="a"}': level(1, 0) } },
  { alert: "DroverRunsTakenOver", values: { 'drover_sweeper_repairs_total{repair="takeover"}': grows(1) } },
  { alert: "DroverBacklogGrows", values: BACKLOG },
  { alert: "DroverOldestRunTooOld", values: { drover_oldest_waiting_run_age_seconds: level(2, 400) } },
  {
    alert: "DroverNoProgress",
    values: {
      ...BACKLOG,
      'drover_activation_duration_seconds_count{agent="a",outcome="completed"}': stops(10),
    },
  },
  {
    alert: "DroverWorkerUnhealthy",
    values: { 'drover_health_check_ok{instance="a",check="lease"}': level(1, 0) },
  },
  {
    alert: "DroverEventLoopBlocked",
    values: slow("drover_event_loop_lag_seconds", 'instance="a",', "1", "2.5"),
  },
  { alert: "DroverLeasesLost", values: { 'drover_leases_lost_total{instance="a"}': grows(1) } },
  { alert: "DroverDeadLetters", values: { drover_dead_letters: level(0, 2) } },
  {
    alert: "DroverRunsFail",
    values: {
      'drover_runs_total{agent="a",outcome="error"}': grows(2),
      'drover_runs_total{agent="a",outcome="success"}': steady(2),
    },
  },
  { alert: "DroverProviderFails", values: failing("MODEL_ERROR") },
  { alert: "DroverProviderLimitsRate", values: failing("MODEL_RATE_LIMITED") },
  { alert: "DroverProviderRefusesKey", values: failing("MODEL_AUTH") },
  {
    alert: "DroverProviderSlow",
    values: slow("drover_model_call_duration_seconds", 'agent="a",model="m",provider="p",', "30", "60"),
  },
  {
    alert: "DroverToolFails",
    values: {
      'drover_tool_calls_total{agent="a",tool="t",outcome="TOOL_ERROR"}': grows(5),
      'drover_tool_calls_total{agent="a",tool="t",outcome="success"}': stops(5),
    },
  },
  {
    alert: "DroverLimitEndedRuns",
    values: {
      'drover_run_endings_total{agent="a",ended_by="model_call_limit"}': grows(1),
      'drover_limit_hits_total{agent="a",limit="recursion",scope="run"}': level(0, 0),
    },
  },
  {
    alert: "DroverEffectsUnknown",
    values: { 'drover_effects_unknown_total{agent="a",tool="pay"}': grows(1) },
  },
  { alert: "DroverApprovalsExpire", values: { drover_interrupts_expiring: level(0, 1) } },
  {
    alert: "DroverApprovalsPileUp",
    values: { drover_interrupts_pending: level(3, 120), drover_oldest_interrupt_age_seconds: level(10, 100) },
  },
  { alert: "DroverWebhooksGivenUp", values: { drover_webhooks_given_up: level(0, 1) } },
  {
    alert: "DroverMessagesRefused",
    values: { 'drover_messages_total{type="unknown",outcome="refused"}': grows(1) },
  },
  {
    alert: "DroverRedisMemory",
    values: { drover_redis_memory_used_bytes: level(10, 95), drover_redis_memory_max_bytes: level(100, 100) },
  },
  { alert: "DroverRedisCannotPersist", values: { drover_redis_can_persist: level(1, 0) } },
  { alert: "DroverRedisEvicts", values: { drover_redis_evicted_keys: level(0, 7) } },
  { alert: "DroverRedisSlow", values: slow("drover_redis_round_trip_seconds", "", "0.5", "1") },
];
