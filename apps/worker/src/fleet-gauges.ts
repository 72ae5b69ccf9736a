import type { QueueDepths } from "@drover/queue";
import { readFleetFigures, readRedisFacts, type State } from "@drover/state";
import { FLEET_GAUGES, type Metrics } from "@drover/telemetry";

/** Milliseconds between two looks: as often as Prometheus comes by at its most. */
export const FLEET_GAUGES_MS = 2000;

/**
 * Exports how the whole fleet stands while this worker is the one that sweeps, and takes the figures back when it is
 * not: a number that nobody keeps up to date is worse than none.
 */
export class FleetGauges {
  constructor(
    private readonly metrics: Metrics,
    private readonly state: State,
    private readonly depths: QueueDepths,
    private readonly leads: () => boolean,
  ) {}

  async refresh(): Promise<void> {
    try {
      if (!this.leads()) return this.clear();
      const [fleet, redis, depths] = await Promise.all([
        readFleetFigures(this.state),
        readRedisFacts(this.state.redis),
        this.depths.read(),
      ]);
      if (!this.leads()) return this.clear();
      const { metrics } = this;
      for (const [status, count] of entries(fleet.runs)) metrics.set("drover_runs", { status }, count);
      for (const [why, count] of entries(fleet.waiting)) metrics.set("drover_waiting_runs", { why }, count);
      metrics.set("drover_oldest_waiting_run_age_seconds", {}, fleet.oldestReadyAge);
      metrics.set("drover_paused_scopes", {}, fleet.pausedScopes);
      metrics.set("drover_batches_open", {}, fleet.batchesOpen);
      metrics.set("drover_oldest_open_batch_age_seconds", {}, fleet.oldestBatchAge);
      metrics.set("drover_interrupts_pending", {}, fleet.approvals);
      metrics.set("drover_oldest_interrupt_age_seconds", {}, fleet.oldestApprovalAge);
      metrics.set("drover_interrupts_expiring", {}, fleet.approvalsExpiring);
      metrics.set("drover_dead_letters", {}, fleet.deadRuns);
      metrics.set("drover_workers", {}, fleet.workers);
      metrics.set("drover_inbox_messages", {}, depths.inbox);
      metrics.set("drover_webhooks_waiting", {}, depths.webhooks);
      metrics.set("drover_webhooks_given_up", {}, depths.webhooksGivenUp);
      metrics.set("drover_redis_memory_used_bytes", {}, redis.usedMemoryBytes);
      if (redis.maxMemoryBytes === null) metrics.unset(["drover_redis_memory_max_bytes"]);
      else metrics.set("drover_redis_memory_max_bytes", {}, redis.maxMemoryBytes);
      metrics.set("drover_redis_clients", {}, redis.clients);
      metrics.set("drover_redis_can_persist", {}, redis.canPersist ? 1 : 0);
      metrics.set("drover_redis_evicted_keys", {}, redis.evictedKeys);
    } catch (error) {
      this.clear();
      throw error;
    }
  }

  private clear(): void {
    this.metrics.unset(FLEET_GAUGES);
  }
}

const entries = <K extends string>(record: Record<K, number>) => Object.entries(record) as [K, number][];
