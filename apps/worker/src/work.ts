/**
 * The life of a delivery: park it if its scope is paused, claim its run, execute, settle, publish. What is thrown
 * on the way is a defect or a Redis that is away; the run is then found by the sweeper.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  DroverError,
  type ErrorInfo,
  isDroverError,
  isStoreFailure,
  noUsage,
  type Outcome,
  type Pointer,
} from "@drover/contracts";
import { change, type PauseScope, park, publish, scopesOf, settle } from "@drover/queue";
import { execute, type LoadedAgent } from "@drover/runtime";
import { asDroverError, type Claimed, createCounters, createEffects } from "@drover/state";
import { RedisStore } from "@drover/state/memory";
import { type ActiveRun, LEASE_IS_LOST } from "./active-runs.js";
import { countAnswers } from "./answers.js";
import { type Claim, claim as claimRun } from "./claim.js";
import type { WorkerContext } from "./context.js";
import { EventWriter } from "./event-writer.js";
import { traceOf } from "./trace-run.js";

/** Milliseconds between two looks for a worker that has the agent, and how many looks there are. */
const LOOK_AGAIN_MS = 2000;
const MOST_LOOKS = 150;
/** Milliseconds between two tries while Redis is away, full or read-only. */
const ASK_AGAIN_MS = 500;

type Taken = Extract<Claimed, { what: "claimed" }>;

/** @param readyAt when the delivery could have been taken, in milliseconds by Redis's clock */
export async function work(context: WorkerContext, pointer: Pointer, readyAt: number): Promise<void> {
  const scope = await pausedScope(context, pointer);
  if (scope && (await park(context.state, context.queue, pointer, scope))) return;
  const claim = await whenRedisCan(() => claimRun(context, pointer), {
    isOver: () => context.activeRuns.drain.signal.aborted,
    onWait: (error) => context.complaints.say(context.logger.warn, "a claim waits for Redis", error),
  });
  if (!("active" in claim)) return leave(context, pointer, claim.claimed);
  const { claimed, active } = claim;
  const { metrics } = context;
  const { agent } = claimed.activation;
  const takenAt = performance.now();
  metrics.observe(
    "drover_queue_wait_seconds",
    { agent },
    Math.max(0, claimed.transition.at - readyAt) / 1000,
  );
  countAnswers(metrics, claimed.activation);
  let endStay: (() => void) | null = null;
  // A run that waits until it may begin has no more time for that.
  const deadline = limitTime(claimed.activation.deadlineInMs, LATE, active.stop);
  try {
    const published = publish(context.state, context.queue, [claimed.transition]).catch((error) =>
      context.complaints.say(context.logger.warn, "a transition waits to be published", error),
    );
    endStay = await enter(context, claimed, active);
    const isDrained = !endStay && !active.signal.aborted;
    const outcome: Outcome = isDrained
      ? { kind: "yielded", usage: noUsage() }
      : await run(context, claimed, active);
    await published;
    await conclude(context, claimed, active, outcome);
    const seconds = (performance.now() - takenAt) / 1000;
    metrics.observe("drover_activation_duration_seconds", { agent, outcome: outcome.kind }, seconds);
  } finally {
    clearTimeout(deadline);
    active.done();
    endStay?.();
  }
}

async function pausedScope(context: WorkerContext, pointer: Pointer): Promise<PauseScope | null> {
  if (context.pauses.size === 0) return null;
  const found = await context.state.reader.run(pointer, false);
  return found ? (scopesOf(found).find((scope) => context.pauses.has(scope)) ?? null) : null;
}

/** Leaves a delivery that this worker cannot work on, in such a way that its run goes on in time. */
async function leave(
  context: WorkerContext,
  pointer: Pointer,
  why: Exclude<Claim, { active: ActiveRun }>["claimed"],
): Promise<void> {
  switch (why.what) {
    case "elsewhere":
      return leaveForAnother(context, pointer, why.agent);
    case "early":
      return context.state.indexes.noteEarly(pointer, why.until);
    case "waits":
      context.metrics.inc("drover_concurrency_waits_total", { kind: why.kind });
      return;
    case "stale":
    case "held":
      return;
  }
}

/** Another worker may have the agent; after a while the run ends with an error that says so. */
async function leaveForAnother(context: WorkerContext, pointer: Pointer, agent: string): Promise<void> {
  if (pointer.delivery < MOST_LOOKS) {
    const { priority = 0 } = (await context.state.reader.run(pointer, false)) ?? {};
    const later = { ...pointer, delivery: pointer.delivery + 1, delayMs: LOOK_AGAIN_MS, priority };
    return context.queue.add([later]);
  }
  const error: ErrorInfo = {
    code: "AGENT_NOT_AVAILABLE",
    message: `No worker has the agent '${agent}', or none has the version that the run's answer was given to. Start one whose langgraph.json names it, then retry the run.`,
  };
  const make = async () => ({ transition: await context.state.runs.fail(pointer, error) });
  await change(context.state, context.queue, pointer, make);
}

/**
 * Waits until the run may begin: one that must be alone when nothing else is worked on, and Redis knows it before. Gives
 * what must be called when its end is settled; null where it was stopped before it began.
 */
async function enter(context: WorkerContext, taken: Taken, active: ActiveRun): Promise<(() => void) | null> {
  const { state, activeRuns, company, complaints, logger } = context;
  const { lease, mustBeAlone } = taken;
  if (mustBeAlone)
    logger.warn(
      { runId: lease.runId, threadId: lease.threadId, agent: taken.activation.agent },
      "workers died of this run or beside it: it goes alone",
    );
  const endStay = await company.enter(mustBeAlone, active.signal, activeRuns.drain.signal);
  if (!endStay || !mustBeAlone) return endStay;
  await whenRedisCan(() => state.runs.noteAlone(lease), {
    isOver: () => active.signal.aborted,
    onWait: (error) => complaints.say(logger.warn, "a run's beginning waits for Redis", error),
  }).catch((error: unknown) => {
    if (isDroverError(error, "LEASE_LOST")) return active.stop(error);
    endStay();
    throw error;
  });
  return endStay;
}

async function run(
  context: WorkerContext,
  { lease, activation, isNewThread }: Taken,
  active: ActiveRun,
): Promise<Outcome> {
  const { state, activeRuns, env, metrics } = context;
  const { redis, keys, codec } = state;
  const redactor = context.redactorOf(activation.agent);
  const { runId, threadId, agent, tenant, attempt } = activation;
  const span = traceOf(context, activation);
  const logger = context.logger.child(
    { runId, threadId, agent, tenant, attempt, ...(span ? { traceId: span.traceId } : {}) },
    { redactor },
  );
  const events = new EventWriter(state, lease, (error) => {
    if (error instanceof DroverError && error.code === "LEASE_LOST") active.stop(error);
    else logger.warn({ err: asDroverError(error) }, "events of the run could not be written");
  });
  const timer = limitTime(context.runTimeoutMs, tooSlow(context.runTimeoutMs), active.stop);
  logger.info({ kind: activation.kind, seq: activation.seq }, "run taken");
  try {
    const outcome = await execute(context.agent(agent) as LoadedAgent, activation, {
      checkpointer: context.saverOf(lease, isNewThread, redactor),
      store: new RedisStore({ redis, keys, tenant, redactor, ...(codec ? { codec } : {}) }),
      counters: createCounters(redis, keys, lease),
      effects: createEffects(redis, keys, lease, codec),
      redactor,
      signal: active.signal,
      drain: activeRuns.drain.signal,
      onEvent: (event) => events.write(event),
      logger,
      metrics,
      env,
      ...(context.prices ? { prices: context.prices } : {}),
      ...(span ? { trace: { span, ...(context.traces?.hasContent ? { content: redactor } : {}) } } : {}),
    });
    await events.flush();
    logger.info({ outcome: outcome.kind }, "run left");
    span?.end(outcome);
    return outcome;
  } finally {
    clearTimeout(timer);
  }
}

const LATE = new DroverError(
  "DEADLINE_EXCEEDED",
  "The deadline passed before the run ended. Give it more time.",
);
const tooSlow = (ms: number) =>
  new DroverError("RUN_TIMEOUT", `The run took longer than ${ms} ms. Raise DROVER_RUN_TIMEOUT_MS.`);

/** Timers longer than 24.8 days fire at once: the sweeper sees to such a deadline. */
function limitTime(
  ms: number | null,
  error: DroverError,
  stop: (reason: DroverError) => void,
): NodeJS.Timeout | undefined {
  return ms === null || ms >= 2 ** 31 ? undefined : setTimeout(() => stop(error), Math.max(ms, 0));
}

async function conclude(
  context: WorkerContext,
  taken: Taken,
  active: ActiveRun,
  outcome: Outcome,
): Promise<void> {
  const { state, queue, metrics, logger, complaints } = context;
  const { lease, activation, maxAttempts } = taken;
  const { runId, threadId, agent } = activation;
  const transition = await whenRedisCan(
    () => settle(state, lease, { attempt: activation.attempt, maxAttempts }, outcome),
    {
      isOver: () => isDroverError(active.signal.reason, "LEASE_LOST"),
      onWait: (error) =>
        complaints.say(logger.warn, "a run's end waits for Redis", error, { runId, threadId, agent }),
    },
  );
  context.onProgress();
  if (!transition) {
    metrics.inc("drover_leases_lost_total", {});
    logger.warn({ runId, threadId, agent }, LEASE_IS_LOST.message);
    return;
  }
  if (outcome.kind === "failed" && transition.status === "pending") {
    metrics.inc("drover_retries_total", { agent, layer: "run" });
  }
  await publish(state, queue, [transition]);
}

/**
 * Tries until Redis neither is away nor refuses. Until then the delivery stays in hand, so that nobody has to find out
 * that it was lost. Throws once `isOver`.
 */
async function whenRedisCan<T>(
  act: () => Promise<T>,
  { isOver, onWait }: { isOver: () => boolean; onWait: (error: unknown) => void },
): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isStoreFailure(error) || isOver()) throw error;
      onWait(error);
      await sleep(ASK_AGAIN_MS);
    }
  }
}
