/** Puts all libs together: the one place where a worker's parts meet. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NO_REDACTION } from "@drover/contracts";
import { Consumer, QueueDepths, ReplyTrimmer, RunQueue, Sweeper } from "@drover/queue";
import { loadAgents, loadPrices } from "@drover/runtime";
import {
  asDroverError,
  assertReachable,
  assertSameKeys,
  connect,
  openState,
  type Redis,
  refOf,
  STALE_WRITES,
  Subscriptions,
} from "@drover/state";
import {
  Complaints,
  createLogger,
  createMetrics,
  createProbes,
  type Logger,
  startTraces,
  watchEventLoop,
} from "@drover/telemetry";
import { ActiveRuns, LEASE_IS_LOST } from "./active-runs.js";
import { Company } from "./company.js";
import type { WorkerConfig } from "./config.js";
import { unknownAgent, type WorkerContext } from "./context.js";
import { countNews } from "./count-news.js";
import { FLEET_GAUGES_MS, FleetGauges } from "./fleet-gauges.js";
import { Heartbeat } from "./heartbeat.js";
import { Liveness } from "./liveness.js";
import { answerReader, createMessages } from "./messages.js";
import { giveAllBack, Orphans } from "./orphans.js";
import { redactorsOf } from "./redactors.js";
import { repeat } from "./repeat.js";
import { openSavers } from "./savers.js";
import { startAtZero } from "./start-at-zero.js";
import { work } from "./work.js";

export const VERSION = "0.1.0";

/** Milliseconds between two looks for runs that stand still. */
const ORPHANS_MS = 2000;
/** Milliseconds that a worker takes to leave once nothing is in hand. */
const LEAVE_MS = 5000;

export interface RunningWorker {
  /** Where /metrics, /healthz and /readyz answer. */
  url: string;
  /** Hands over what is in hand at the next step boundary, within `drainMs`; then leaves. Never rejects. */
  stop(): Promise<void>;
}

/** Throws where the agents, the settings or Redis are not in order; nothing is taken from the queue then. */
export async function startWorker(config: WorkerConfig, env: NodeJS.ProcessEnv): Promise<RunningWorker> {
  const logger = createLogger({ level: config.logLevel, pretty: config.logPretty, name: "worker" });
  const complaints = new Complaints(asDroverError);
  const metrics = createMetrics({ version: VERSION });
  const registry = await loadAgents({ root: config.root, env, fleetPolicy: config.fleetPolicy });
  startAtZero(metrics, registry.list());
  const prices = config.prices === undefined ? undefined : loadPrices(resolve(config.root, config.prices));
  const traces = config.traces && (await startTraces({ ...config.traces, version: VERSION }));
  const versions = Object.fromEntries(registry.list().map((agent) => [agent.name, agent.version]));

  const connections = openConnections(config, logger);
  const state = openState({
    redis: connections.commands,
    prefix: config.prefix,
    maxCrashes: config.maxCrashes,
    onNews: (transition) => countNews(metrics, transition),
    retention: config.retention,
    codec: config.codec,
  });
  await assertReachable(connections.commands);
  await assertSameKeys(connections.commands, state.keys, state.codec);
  const savers = await openSavers(state, config, registry.list());

  const queue = new RunQueue(connections.queue, state.keys);
  const activeRuns = new ActiveRuns();
  const startedAt = Date.now();
  let pauses: ReadonlySet<string> = new Set();

  const heartbeat = new Heartbeat({
    state,
    activeRuns,
    leaseMs: config.leaseMs,
    baseId: `${config.host}-${process.pid}-${randomUUID().slice(0, 8)}`,
    agents: versions,
    terms: Object.fromEntries(
      registry
        .list()
        .map(({ name, people: { notify, signedMessages } }) => [name, { notify, signedMessages }]),
    ),
    describe: () => ({
      host: config.host,
      pid: process.pid,
      version: VERSION,
      concurrency: config.concurrency,
      active: activeRuns.size,
      startedAt,
      agents: Object.keys(versions),
      versions,
    }),
    onPauses: (seen) => {
      pauses = seen;
    },
    onAnswer: (ms) => metrics.observe("drover_redis_round_trip_seconds", {}, ms / 1000),
    onError: (error) => complaints.say(logger.warn, "the heartbeat failed", error),
  });

  const redactors = redactorsOf(registry.list(), {
    hashKey: config.piiHashKey,
    onRedaction: (_, { type, strategy, place, count }) =>
      metrics.inc("drover_redactions_total", { type, strategy, place }, count),
  });
  const context: WorkerContext = {
    workerId: () => heartbeat.workerId,
    state,
    queue,
    activeRuns,
    company: new Company((isShut) => consumer.shut(isShut)),
    get pauses() {
      return pauses;
    },
    versions,
    concurrency: registry.concurrency,
    agent: (name) => {
      const agent = registry.get(name);
      if (!agent) throw unknownAgent(name, Object.keys(versions));
      return agent;
    },
    saverOf: savers.of,
    redactorOf: (name) => redactors.get(name) ?? NO_REDACTION,
    runTimeoutMs: config.runTimeoutMs,
    env,
    logger,
    complaints,
    metrics,
    traces,
    prices,
    onProgress: () => liveness.left(),
  };

  const consumer = new Consumer({
    redis: connections.consumer,
    keys: state.keys,
    concurrency: config.concurrency,
    handle: (pointer, readyAt) => {
      liveness.took();
      return work(context, pointer, readyAt);
    },
    onError: (error) => complaints.say(logger.error, "a delivery failed", error),
  });
  const liveness = new Liveness({
    ...config,
    active: () => activeRuns.size,
    answers: heartbeat.answers,
    isTaking: () => consumer.isTaking && !activeRuns.drain.signal.aborted,
    isConnected: () => connections.consumer.status === "ready",
    waiting: async () => ((await queue.isPaused()) ? 0 : (await queue.counts()).waiting),
  });
  const sweeper = new Sweeper(
    state,
    queue,
    () => heartbeat.workerId,
    (repair, count) => {
      metrics.inc("drover_sweeper_repairs_total", { repair }, count);
      logger.warn({ repair, count }, "repaired");
    },
    answerReader(registry),
    (agent, action) => metrics.inc("drover_interrupts_expired_total", { agent, action }),
    () => heartbeat.answers.wasAway,
  );
  const messages = createMessages({
    config,
    state,
    queue,
    registry,
    redactors,
    redactorOf: context.redactorOf,
    connections,
    logger,
    complaints,
    metrics,
  });

  const subscriptions = new Subscriptions(connections.subscriber);
  await heartbeat.start();
  await subscriptions.listen(state.workers.cancelChannel(heartbeat.workerId), (member) => {
    heartbeat
      .cancel(member, refOf(member))
      .catch((error) => complaints.say(logger.warn, "a cancel failed", error));
  });
  const sweepFailed = (error: unknown) => complaints.say(logger.warn, "a sweep failed", error);
  const sweeping = repeat(config.leaseMs / 5, () => sweeper.sweep(config.leaseMs), sweepFailed);
  const rescuing = repeat(config.leaseMs / 10, () => sweeper.rescue(config.leaseMs), sweepFailed);
  const trimmer = new ReplyTrimmer(state, queue.notices, (replyTo, count) => {
    metrics.inc("drover_notices_dropped_total", {}, count);
    logger.warn({ replyTo, count }, "notices that nobody read were dropped");
  });
  const trimming = repeat(
    config.leaseMs * 2,
    async () => {
      if (sweeper.leads) await trimmer.trim();
    },
    sweepFailed,
  );
  const orphans = new Orphans(state, queue, activeRuns);
  const tidying = repeat(ORPHANS_MS, () => giveBack(orphans, heartbeat.workerId, logger), sweepFailed);
  const depths = new QueueDepths(connections.queue, state.keys);
  const fleetGauges = new FleetGauges(metrics, state, depths, () => sweeper.leads);
  const measuring = repeat(
    FLEET_GAUGES_MS,
    () => fleetGauges.refresh(),
    (error) => complaints.say(logger.warn, "the fleet could not be measured", error),
  );
  const onStaleWrite = () => metrics.inc("drover_stale_writes_refused_total", {});
  STALE_WRITES.subscribe(onStaleWrite);
  const unwatch = watchEventLoop(metrics, (ms) =>
    logger.warn({ ms: Math.round(ms), runs: activeRuns.byAgent() }, "the event loop was blocked"),
  );
  const slots = setInterval(() => {
    metrics.set("drover_worker_slots", {}, config.concurrency);
    metrics.set("drover_worker_slots_in_use", {}, activeRuns.size);
  }, 1000);
  const probes = await createProbes({
    metrics,
    port: config.metricsPort,
    host: config.metricsHost,
    checks: liveness.checks,
  });
  consumer.start();
  messages.start();
  liveness.start();
  logger.info(
    { agents: Object.keys(versions), concurrency: config.concurrency, url: probes.url },
    "worker ready",
  );

  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    logger.info({ active: activeRuns.size }, "worker leaves");
    activeRuns.drain.abort();
    const deadline = setTimeout(() => activeRuns.stopAll(LEASE_IS_LOST), config.drainMs);
    await Promise.all([consumer.stop(), messages.stop()]);
    clearTimeout(deadline);
    clearInterval(slots);
    unwatch();
    STALE_WRITES.unsubscribe(onStaleWrite);
    await Promise.all([
      liveness.stop(),
      sweeping.stop(),
      rescuing.stop(),
      tidying.stop(),
      trimming.stop(),
      measuring.stop(),
    ]);
    await depths.close();
    await giveAllBack(state, queue, heartbeat.workerId);
    await heartbeat.end();
    await traces?.stop();
    await probes.close();
    await Promise.all([queue.close(), savers.close()]);
    for (const redis of Object.values(connections)) redis.disconnect();
  };
  return {
    url: probes.url,
    stop: () => {
      // A Redis that is away must not keep a worker from leaving: what it could not hand over is taken over.
      if (stopping) return stopping;
      const late = sleep(config.drainMs + LEAVE_MS).then(() =>
        logger.error("left without a word to Redis, which does not answer"),
      );
      const left = stop().catch((error) =>
        logger.error({ err: error }, "left without handing everything over"),
      );
      stopping = Promise.race([left, late]);
      return stopping;
    },
  };
}

async function giveBack(orphans: Orphans, worker: string, logger: Logger): Promise<void> {
  const count = await orphans.giveBack(worker);
  if (count > 0) logger.error({ count }, "runs that stood still were given back");
}

/** Each part has a connection of its own: a blocking one must not hold up commands. */
function openConnections(
  config: WorkerConfig,
  logger: Logger,
): Record<"commands" | "queue" | "consumer" | "inbox" | "webhooks" | "subscriber", Redis> {
  const open = (role: "worker" | "subscriber") =>
    connect({
      url: config.redisUrl,
      role,
      onError: (error) => logger.debug({ err: error }, "connection to Redis"),
    });
  return {
    commands: open("worker"),
    queue: open("worker"),
    consumer: open("subscriber"),
    inbox: open("subscriber"),
    webhooks: open("subscriber"),
    subscriber: open("subscriber"),
  };
}
