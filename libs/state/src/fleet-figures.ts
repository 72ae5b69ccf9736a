import { RUN_STATUSES, type RunStatus } from "@drover/contracts";
import { encodeId } from "./keys.js";
import type { State } from "./state.js";

/** How the whole fleet stands, all tenants together. Ages are seconds by Redis's clock, 0 where there is none. */
export interface FleetFigures {
  runs: Record<RunStatus, number>;
  /** Where runs wait that are pending. They add up to `runs.pending` while nothing moves. */
  waiting: {
    /** Could start now. */
    ready: number;
    /** Their delay, or the pause before a retry, is not over. */
    delayed: number;
    /** Behind another run of their thread, or in line for a share of a limit of concurrent runs. */
    turn: number;
    /** Of a scope that is paused, and met by a worker. */
    paused: number;
  };
  oldestReadyAge: number;
  approvals: number;
  oldestApprovalAge: number;
  /** Approvals whose time is over within `EXPIRING_SOON_MS`. */
  approvalsExpiring: number;
  batchesOpen: number;
  /** Seconds since the oldest open batch was opened, or went on after its end. */
  oldestBatchAge: number;
  deadRuns: number;
  workers: number;
  pausedScopes: number;
}

export const EXPIRING_SOON_MS = 15 * 60_000;
/** More paused scopes than this are counted, and what waits for them is not. */
const MOST_SCOPES = 100;

/** Reads them in two round trips; each read costs the same however many runs there are. */
export async function readFleetFigures({
  redis,
  keys,
}: Pick<State, "redis" | "keys">): Promise<FleetFigures> {
  const key = keys.index;
  const [seconds, micros] = await redis.time();
  const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  const first = (name: string) => redis.zrange(key(name), 0, "0", "WITHSCORES");
  const age = ([, at]: string[]) => (at === undefined ? 0 : Math.max(0, (now - Number(at)) / 1000));
  const [states, ready, delayed, oldestReady, approvals, oldestApproval, expiring, dead, workers, scopes] =
    await Promise.all([
      redis.hgetall(key("states")),
      redis.zcount(key("due"), "-inf", now),
      redis.zcount(key("due"), `(${now}`, "+inf"),
      first("due"),
      redis.zcard(key("approvals-waiting")),
      first("approvals-waiting"),
      redis.zcount(key("approvals-expiring"), "-inf", now + EXPIRING_SOON_MS),
      redis.zcard(key("dead-runs")),
      redis.zcount(key("workers"), now, "+inf"),
      redis.hkeys(key("pauses")),
    ]);
  const [batches, paused] = await Promise.all([
    openBatches({ redis, keys }),
    parkedRuns({ redis, keys }, scopes.slice(0, MOST_SCOPES)),
  ]);
  const runs = Object.fromEntries(
    RUN_STATUSES.map((status) => [status, Math.max(0, Number(states[status] ?? 0))]),
  ) as Record<RunStatus, number>;
  return {
    runs,
    waiting: { ready, delayed, paused, turn: Math.max(0, runs.pending - ready - delayed - paused) },
    oldestReadyAge: age(oldestReady),
    approvals,
    oldestApprovalAge: age(oldestApproval),
    approvalsExpiring: expiring,
    batchesOpen: batches.count,
    oldestBatchAge: age(batches.oldest),
    deadRuns: dead,
    workers,
    pausedScopes: scopes.length,
  };
}

/** A batch that was never sealed is forgotten by Redis one day: it is taken off the list when it is the oldest. */
async function openBatches({ redis, keys }: Pick<State, "redis" | "keys">) {
  const key = keys.index("batches-open");
  for (;;) {
    const [oldest, count] = await Promise.all([redis.zrange(key, 0, "0", "WITHSCORES"), redis.zcard(key)]);
    const [batch] = oldest;
    if (batch === undefined || (await redis.exists(batch)) === 1) return { count, oldest };
    await redis.zrem(key, batch);
  }
}

async function parkedRuns({ redis, keys }: Pick<State, "redis" | "keys">, scopes: string[]): Promise<number> {
  const lengths = await Promise.all(
    scopes.map((scope) => redis.llen(keys.index(`parked:${encodeId(scope)}`))),
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}
