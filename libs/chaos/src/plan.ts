/** What is done to a fleet, and when: it follows from the seed alone. */
import type { ChaosAgent } from "./agents.js";
import { type Random, seeded } from "./random.js";

/** How the questions of a run are answered. */
export interface AnswerPlan {
  afterMs: number;
  approves: boolean;
  /** First with an answer that does not fit, which must change nothing. */
  wrongFirst: boolean;
  /** By two people at once, of whom one must be refused. */
  twice: boolean;
}

export interface PlannedRun {
  label: string;
  /** Milliseconds from the beginning. */
  at: number;
  agent: string;
  thread: string;
  ms: number;
  priority: number;
  delayMs: number;
  deadlineMs: number | null;
  /** Whether it has an idempotency key, so that it is sent again where nothing is known of its acceptance. */
  keyed: boolean;
  strategy: "enqueue" | "reject" | "interrupt" | "rollback";
  /** Of the runs with the same key at most CONCURRENT go at once. */
  concurrencyKey: string | null;
  batch: boolean;
  answer: AnswerPlan;
}

interface WorkerEnd {
  slot: number;
  downMs: number;
  /** By how much the clock of the worker is wrong that takes its place. */
  clockMs: number;
}

export type PlannedEvent = { at: number } & (
  | ({ what: "kill" } & WorkerEnd)
  | ({ what: "drain" } & WorkerEnd)
  | { what: "stop"; slot: number; forMs: number }
  | { what: "killRedis"; downMs: number }
  | { what: "stopRedis"; forMs: number }
  /** The slot -1 is the producer's own connection. */
  | { what: "cut"; slot: number; forMs: number }
  | { what: "hold"; slot: number; forMs: number }
  | { what: "slow"; slot: number; delayMs: number; forMs: number }
  | { what: "duplicate"; run: string }
  | { what: "cancel"; run: string }
  /** An operator tries a run again that failed; the first such one from this on. */
  | { what: "retry"; run: string }
  | { what: "fullRedis"; forMs: number }
  | { what: "malformed"; message: unknown }
  | { what: "pause"; scope: "all" | "agent" | "batch"; agent: string; forMs: number }
);

export type ChaosEvent = PlannedEvent["what"];

export interface Plan {
  seed: number;
  runs: PlannedRun[];
  events: PlannedEvent[];
  /** The clocks' offsets of the workers at their first start. */
  clocks: number[];
  durationMs: number;
}

export interface PlanOptions {
  seed: number;
  runs: number;
  workers: number;
  leaseMs: number;
  agents: readonly ChaosAgent[];
  /** The time between two disturbances, on average. Default 800. */
  everyMs?: number | undefined;
  /** The kinds of disturbances. Default: all. */
  only?: readonly ChaosEvent[] | undefined;
}

/** How many runs a second are enqueued. */
const RATE = 4;
const RUNS_A_THREAD = 3;
/** How many runs of one concurrency key may go at once. */
export const CONCURRENT = 2;

export function makePlan(options: PlanOptions): Plan {
  const { seed, runs, workers, agents } = options;
  const random = seeded(seed);
  const durationMs = Math.max(8000, (runs / RATE) * 1000);
  const planned = planRuns(random, runs, durationMs, agents);
  return {
    seed,
    durationMs,
    runs: planned,
    clocks: Array.from({ length: workers }, () => clock(random)),
    events: planEvents(random, planned, durationMs, options),
  };
}

function planRuns(
  random: Random,
  count: number,
  durationMs: number,
  agents: readonly ChaosAgent[],
): PlannedRun[] {
  const weighted = agents.flatMap((agent) => Array<ChaosAgent>(agent.weight ?? 1).fill(agent));
  const total = agents.reduce((sum, agent) => sum + (agent.weight ?? 1), 0);
  const times = Array.from({ length: count }, () => random.int(0, durationMs * 0.85)).sort((a, b) => a - b);
  return times.map((at, i): PlannedRun => {
    const agent = random.pick(weighted);
    const threads = Math.max(1, Math.round((count * (agent.weight ?? 1)) / total / RUNS_A_THREAD));
    return {
      label: `r${i + 1}`,
      at,
      agent: agent.name,
      thread: `${agent.name}-${random.int(1, threads)}`,
      ms: random.pick([5, 20, 50, 100, 250, 600]),
      priority: random.int(0, 10),
      delayMs: random.chance(0.15) ? random.int(100, 2500) : 0,
      deadlineMs: random.chance(0.05) ? random.int(500, 8000) : null,
      keyed: random.chance(0.85),
      strategy: strategy(random),
      concurrencyKey: random.chance(0.25) ? `key-${random.int(1, 3)}` : null,
      batch: random.chance(0.3),
      answer: {
        afterMs: random.pick([0, 0, 100, 500, 1500]),
        approves: random.chance(0.75),
        wrongFirst: random.chance(0.3),
        twice: random.chance(0.4),
      },
    };
  });
}

function strategy(random: Random): PlannedRun["strategy"] {
  if (random.chance(0.05)) return "reject";
  if (random.chance(0.05)) return "interrupt";
  return random.chance(0.05) ? "rollback" : "enqueue";
}

/** Most clocks are right; others are off by seconds, minutes, an hour. */
function clock(random: Random): number {
  if (random.chance(0.5)) return 0;
  return random.pick([-3_600_000, -90_000, -3000, 3000, 90_000, 3_600_000]);
}

/** What comes how often, against the others. Each comes once before any comes again. */
const MIX: readonly (readonly [ChaosEvent, number])[] = [
  ["kill", 10],
  ["stop", 6],
  ["drain", 5],
  ["killRedis", 3],
  ["stopRedis", 2],
  ["cut", 7],
  ["hold", 5],
  ["slow", 5],
  ["duplicate", 14],
  ["malformed", 7],
  ["cancel", 9],
  ["retry", 6],
  ["fullRedis", 2],
  ["pause", 4],
];

function planEvents(
  random: Random,
  runs: readonly PlannedRun[],
  durationMs: number,
  { workers, leaseMs, everyMs = 800, only }: PlanOptions,
): PlannedEvent[] {
  const mix = MIX.filter(([kind]) => only?.includes(kind) ?? true);
  const once = random.shuffle(mix.map(([kind]) => kind));
  const more = mix.flatMap(([kind, weight]) => Array<ChaosEvent>(weight).fill(kind));
  const count = Math.max(mix.length, Math.round(durationMs / everyMs));
  const times = Array.from({ length: count }, () => random.int(1000, durationMs)).sort((a, b) => a - b);
  return times.map((at, i) => {
    const what = once[i] ?? random.pick(more);
    return { at, ...planEvent(random, what, at, runs, workers, leaseMs) };
  });
}

/** A plain Omit would make one shape of the union's members. */
type Untimed = PlannedEvent extends infer E ? (E extends PlannedEvent ? Omit<E, "at"> : never) : never;

function planEvent(
  random: Random,
  what: ChaosEvent,
  at: number,
  runs: readonly PlannedRun[],
  workers: number,
  leaseMs: number,
): Untimed {
  const slot = random.int(0, workers - 1);
  const connection = random.int(-1, workers - 1);
  const recent = runs.filter((run) => run.at < at && run.at > at - 6000);
  const run = (recent.length > 0 ? random.pick(recent) : runs[0])?.label ?? "";
  switch (what) {
    case "kill":
    case "drain":
      return { what, slot, downMs: random.int(0, 2000), clockMs: clock(random) };
    case "stop":
      return { what, slot, forMs: Math.round(leaseMs * (0.8 + random.next() * 1.7)) };
    case "killRedis":
      return { what, downMs: random.int(50, 2500) };
    case "fullRedis":
    case "stopRedis":
      return { what, forMs: random.int(100, 2000) };
    case "cut":
      return { what, slot: connection, forMs: random.pick([0, 0, 300, Math.round(leaseMs * 1.5)]) };
    case "hold":
      return { what, slot: connection, forMs: random.pick([300, 1000, Math.round(leaseMs * 1.8)]) };
    case "slow":
      return { what, slot: connection, delayMs: random.pick([5, 20, 80, 300]), forMs: random.int(500, 4000) };
    case "duplicate":
    case "cancel":
    case "retry":
      return { what, run };
    case "malformed":
      return { what, message: malformed(random) };
    case "pause":
      return {
        what,
        scope: random.pick(["all", "agent", "batch"] as const),
        agent: random.pick(runs)?.agent ?? "",
        forMs: random.int(300, 3000),
      };
  }
}

function malformed(random: Random): unknown {
  const pointer = { tenant: "default", threadId: "t", runId: "nobody", seq: 1, delivery: 1 };
  return random.pick<unknown>([
    null,
    "text",
    42,
    [],
    {},
    pointer,
    { ...pointer, seq: -1 },
    { ...pointer, seq: "1" },
    { ...pointer, tenant: "../x" },
    { ...pointer, threadId: "\ud800" },
    { ...pointer, threadId: "x".repeat(10_000) },
    { ...pointer, more: true },
    { __proto__: null, runId: { $ne: null } },
  ]);
}
