/**
 * What a policy costs: the accounts-payable agent with its whole policy against a bare `createAgent` of the same
 * model, tools and prompt. Both are executed as a worker executes them, on savers, counters and effects in memory, so
 * that only the policy differs. A ratio is one of two neighbouring rounds; the median counts.
 */
import { join } from "node:path";
import { execute, loadAgents, OfflineChatModel } from "@drover/runtime";
import { redactorsOf } from "@drover/worker";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { root } from "../setup.mjs";
import { countersInMemory, effectsInMemory } from "./in-memory.mjs";
import { median } from "./statistics.mjs";

const RUNS = 100;
const ROUNDS = 9;
const NAME = "accounts-payable";

class CountingSaver extends MemorySaver {
  puts = 0;
  put(...args) {
    this.puts += 1;
    return super.put(...args);
  }
}

export async function measure(progress) {
  const loaded = (await loadAgents({ root: join(root, "examples", NAME), env: {} })).get(NAME);
  const { tools, systemPrompt } = loaded.definition;
  const { graph } = createAgent({ model: new OfflineChatModel({ rules: NAME }), tools, systemPrompt });
  const bare = { ...loaded, definition: undefined, recursionLimit: undefined, compile: async () => graph };
  const redactor = redactorsOf([loaded]).get(NAME);
  const none = { text: (text) => text, value: (value) => value };
  const contenders = { policy: [loaded, redactor], bare: [bare, none] };
  const checkpoints = { policy: 0, bare: 0 };
  const rates = { policy: [], bare: [] };
  const ratios = [];
  for (let i = 0; i <= ROUNDS; i++) {
    const rate = {};
    for (const name of i % 2 === 0 ? ["policy", "bare"] : ["bare", "policy"]) {
      const { seconds, puts } = await round(...contenders[name]);
      checkpoints[name] = puts / RUNS;
      rate[name] = RUNS / seconds;
    }
    progress(`round ${i} of ${ROUNDS}: ${JSON.stringify(rate)}`);
    // The first round warms up.
    if (i === 0) continue;
    ratios.push(rate.policy / rate.bare);
    for (const name of ["policy", "bare"]) rates[name].push(rate[name]);
  }
  return {
    checkpointRatio: checkpoints.policy / checkpoints.bare,
    throughputRatio: median(ratios),
    checkpoints,
    runsPerSecond: { policy: median(rates.policy), bare: median(rates.bare) },
  };
}

export function rows({ checkpointRatio, throughputRatio, checkpoints, runsPerSecond }) {
  return [
    ["", "with the policy", "bare", "ratio"],
    [
      "checkpoints of a run",
      String(checkpoints.policy),
      String(checkpoints.bare),
      checkpointRatio.toFixed(2),
    ],
    [
      "runs a second",
      runsPerSecond.policy.toFixed(1),
      runsPerSecond.bare.toFixed(1),
      throughputRatio.toFixed(2),
    ],
  ];
}

async function round(agent, redactor) {
  const checkpointer = new CountingSaver();
  const start = performance.now();
  for (let i = 0; i < RUNS; i++) await run(agent, redactor, checkpointer, i);
  return { seconds: (performance.now() - start) / 1000, puts: checkpointer.puts };
}

async function run(agent, redactor, checkpointer, i) {
  const never = new AbortController().signal;
  const outcome = await execute(agent, activation(i), {
    checkpointer,
    redactor,
    counters: countersInMemory(),
    effects: effectsInMemory(),
    signal: never,
    drain: never,
    onEvent: () => {},
    logger: Object.fromEntries(["debug", "info", "warn", "error"].map((level) => [level, () => {}])),
    env: {},
  });
  if (outcome.kind !== "completed")
    throw new Error(`a run ended as ${outcome.kind}: ${JSON.stringify(outcome.error)}`);
}

const activation = (i) => ({
  tenant: "default",
  threadId: `thread-${i}`,
  runId: `run-${i}`,
  seq: 1,
  kind: "start",
  attempt: 1,
  agent: NAME,
  agentVersion: "1",
  input: "Post INV-1001 on 2026-09-15",
  context: { userId: "u-17", company: "PT Contoh", closedUntil: { $date: "2026-08-31" } },
  metadata: {},
  tags: [],
  streamMode: [],
  deadlineAt: null,
  deadlineInMs: null,
  resume: null,
});
