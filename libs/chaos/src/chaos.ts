import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { builtInAgents, builtInProject, type ChaosAgent } from "./agents.js";
import { Arena } from "./arena.js";
import { checkConcurrency } from "./check-concurrency.js";
import { checkReplaced } from "./check-replaced.js";
import { checkRun } from "./check-runs.js";
import { checkThread } from "./check-threads.js";
import { Disturber } from "./disturb.js";
import type { Happening, RunHistory } from "./history.js";
import type { LedgerLine } from "./ledger.js";
import { checkLists, leftovers } from "./leftovers.js";
import { type ChaosEvent, makePlan, type Plan } from "./plan.js";
import { Producer, refOf } from "./producer.js";
import { type ChaosReport, countFaults, type Fault, percentile } from "./report.js";
import { Takeovers } from "./takeovers.js";

export interface ChaosOptions {
  /** Default 1. The plan follows from it. */
  seed?: number;
  /** Default 100. */
  runs?: number;
  /** Default 4. */
  workers?: number;
  /** DROVER_LEASE_MS of the workers. Default 5000, as theirs. */
  leaseMs?: number;
  /** Runs at once in a worker. Default 10. */
  concurrency?: number;
  /** A folder with langgraph.json. Default: agents of the harness's own. */
  root?: string;
  /** The agents of `root` that are used, and what is known of them. */
  agents?: readonly ChaosAgent[];
  /** Milliseconds after the last disturbance in which every run must have ended. Default 90,000. */
  settleMs?: number;
  /** Milliseconds between two disturbances, on average. Default 800: less than a fleet bears for ever. */
  everyMs?: number;
  /** The kinds of disturbances. Default: all. */
  only?: readonly ChaosEvent[];
  /** Told what happens, a line at a time. */
  onProgress?: (line: string) => void;
}

/** Everything that is known at the end, for the one who reads a failure. */
export interface ChaosResult {
  report: ChaosReport;
  plan: Plan;
  faults: Fault[];
  histories: RunHistory[];
  takenOver: { run: string; ms: number }[];
  ledger: LedgerLine[];
  happenings: Happening[];
}

const BATCH = "chaos";
const TENANT = "default";

/**
 * Runs agents on a fleet and does everything to it that its plan says: kills, stops, drains, Redis restarts, bad
 * networks, wrong clocks, messages nobody ordered. Then checks what came of it, in Redis and in the world.
 */
export async function runChaos(options: ChaosOptions = {}): Promise<ChaosResult> {
  const { seed = 1, runs = 100, workers = 4, leaseMs = 5000, concurrency = 10, settleMs = 90_000 } = options;
  const agents = options.agents ?? builtInAgents;
  const progress = options.onProgress ?? (() => {});
  const plan = makePlan({
    seed,
    runs,
    workers,
    leaseMs,
    agents,
    everyMs: options.everyMs,
    only: options.only,
  });
  const started = performance.now();
  const arena = await Arena.open({
    root: options.root ?? builtInProject,
    workers,
    leaseMs,
    concurrency,
    clocks: plan.clocks,
    env: Object.assign({}, ...agents.map(({ env }) => env)) as Record<string, string>,
  });
  try {
    await arena.observer.openBatch({ batchId: BATCH, agent: agents[0]?.name ?? "" });
    const histories = plan.runs.map(begun);
    const takeovers = new Takeovers(arena.state);
    progress(`${workers} workers are ready`);
    await play(arena, plan, histories, agents, takeovers, settleMs, progress);
    progress("all is over, checking");
    const faults = await check(arena, plan, histories, agents, settleMs);
    const takenOver = takeovers.measure(histories);
    const times = takenOver.map(({ ms }) => ms);
    const report: ChaosReport = {
      seed,
      runs,
      events: eventsOf(arena, plan),
      ended: endingsOf(histories),
      faults: countFaults(faults),
      takeoverMs: { p50: percentile(times, 0.5), p95: percentile(times, 0.95), max: percentile(times, 1) },
      durationMs: Math.round(performance.now() - started),
    };
    const { happenings } = arena;
    return { report, plan, faults, histories, takenOver, ledger: arena.ledger(), happenings };
  } finally {
    await arena.close();
  }
}

async function play(
  arena: Arena,
  plan: Plan,
  histories: readonly RunHistory[],
  agents: readonly ChaosAgent[],
  takeovers: Takeovers,
  settleMs: number,
  progress: (line: string) => void,
): Promise<void> {
  const byLabel = new Map(histories.map((history) => [history.plan.label, history]));
  const producer = new Producer(arena, new Map(agents.map((agent) => [agent.name, agent])), BATCH);
  const disturber = new Disturber(arena, byLabel, takeovers, BATCH, repeatable(agents));
  const late = new AbortController();
  setMaxListeners(0, late.signal);
  const begin = performance.now();
  const until = (at: number) => sleep(Math.max(0, at - (performance.now() - begin)));
  const lives = histories.map(async (history) => {
    await until(history.plan.at);
    await producer.see(history, late.signal);
  });
  const strangers = producer.answerStrangers(byLabel, late.signal);
  for (const event of plan.events) {
    await until(event.at);
    disturber.begin(event);
  }
  await until(plan.durationMs);
  await disturber.settled();
  progress("every disturbance is over, waiting for the runs to end");
  arena.tell("every disturbance is over");
  // A machine that is slow is no fault: as long as runs end, the others are waited for.
  let timer = setTimeout(() => late.abort(), settleMs);
  const ended = lives.map(async (life) => {
    await life;
    clearTimeout(timer);
    if (!late.signal.aborted) timer = setTimeout(() => late.abort(), settleMs);
  });
  await Promise.all(ended);
  clearTimeout(timer);
  late.abort();
  await strangers;
  await disturber.close();
}

async function check(
  arena: Arena,
  plan: Plan,
  histories: readonly RunHistory[],
  agents: readonly ChaosAgent[],
  settleMs: number,
): Promise<Fault[]> {
  await arena.observer.sealBatch(BATCH);
  const left = await settled(arena, settleMs);
  await Promise.all(histories.map((history) => readUp(arena, history)));
  const ledger = arena.ledger();
  const faults = histories.flatMap((history) =>
    checkRun(
      history,
      agentOf(agents, history.plan.agent),
      ledger.filter((line) => line.run === history.plan.label),
    ),
  );
  for (const thread of new Set(plan.runs.map((run) => run.thread))) {
    const own = histories.filter((history) => history.plan.thread === thread);
    const agent = agentOf(agents, own[0]?.plan.agent ?? "");
    faults.push(
      ...checkThread(
        thread,
        agent,
        own,
        ledger.filter((line) => line.thread === thread),
      ),
    );
  }
  faults.push(...checkConcurrency(histories));
  faults.push(...(await checkReplaced(arena.state, histories)));
  faults.push(...(await checkLists(arena.state, TENANT, BATCH)));
  await arena.dismiss();
  const after = await leftovers(arena.state, arena.observer.queue);
  const slots = new Set([...left, ...after.slots]);
  for (const what of slots) faults.push({ kind: "slotsLeaked", run: null, what });
  for (const key of after.keys) faults.push({ kind: "keysLeaked", run: null, what: key });
  return faults;
}

/** Waits until nothing holds a slot any more; gives what still does when the time is over. */
async function settled(arena: Arena, settleMs: number): Promise<string[]> {
  const end = performance.now() + settleMs;
  for (;;) {
    const { slots } = await leftovers(arena.state, arena.observer.queue);
    if (slots.length === 0 || performance.now() > end) return slots;
    await sleep(500);
  }
}

async function readUp(arena: Arena, history: RunHistory): Promise<void> {
  if (history.runId === null) return;
  const run = refOf(history);
  const { state } = arena;
  history.record = await state.reader.run(run);
  history.approvals = await state.reader.approvals(run);
  const stream = state.keys.thread(run.tenant, run.threadId).events(run.runId);
  const page = await state.redis.xrange(stream, "-", "+");
  history.events = page.map(([id, fields]) => ({ ...JSON.parse(fields[1] ?? "{}"), id }));
}

/** Agents whose runs may be tried again from the beginning: they ask nothing, and nothing of them must happen once. */
function repeatable(agents: readonly ChaosAgent[]): ReadonlySet<string> {
  const may = agents.filter(({ questions = 0, mayNotKnow = false }) => questions === 0 && !mayNotKnow);
  return new Set(may.map(({ name }) => name));
}

function begun(plan: Plan["runs"][number]): RunHistory {
  return {
    plan,
    acceptance: "unsure",
    refusedAs: null,
    runId: null,
    threadId: plan.thread,
    attempts: [],
    cancelled: false,
    retries: 0,
    seen: null,
    record: null,
    events: [],
    approvals: [],
  };
}

function agentOf(agents: readonly ChaosAgent[], name: string): ChaosAgent {
  return agents.find((agent) => agent.name === name) as ChaosAgent;
}

function eventsOf(arena: Arena, plan: Plan): ChaosReport["events"] {
  const names = new Set([
    ...plan.events.map(({ what }) => what),
    "answers",
    "restarts",
    "unexpectedExits",
  ] as const);
  return Object.fromEntries(
    [...names].map((name) => [name, arena.counts.get(name) ?? 0]),
  ) as ChaosReport["events"];
}

function endingsOf(histories: readonly RunHistory[]): Record<string, number> {
  const ended: Record<string, number> = {};
  for (const { record, acceptance } of histories) {
    const how = record ? [record.status, record.error?.code].filter(Boolean).join(" ") : acceptance;
    ended[how] = (ended[how] ?? 0) + 1;
  }
  return ended;
}
