/**
 * The child that calls the receipts agent without Drover's fleet: LangGraph's own `graph.invoke` on the graph that
 * workers run, with one MemorySaver, in a loop at a given concurrency. The agent's policy is part of the agent, so
 * it is here too, on counters and a ledger in memory. What Drover does around the graph is not: usage, events,
 * outcome, durability "sync".
 */
import { loadAgents } from "@drover/runtime";
import { redactorsOf } from "@drover/worker";
import { MemorySaver } from "@langchain/langgraph";
import { RUN_KEY } from "../../libs/runtime/dist/execute/run-context.js";
import { root } from "../setup.mjs";
import { serve } from "./child.mjs";
import { countersInMemory, effectsInMemory } from "./in-memory.mjs";

const agent = (await loadAgents({ root, env: process.env })).get("receipts");
const redactor = redactorsOf([agent]).get("receipts");
const graph = await agent.compile();
const never = new AbortController().signal;
const logger = Object.fromEntries(["debug", "info", "warn", "error"].map((level) => [level, () => {}]));
let calls = 0;

serve({ ready: true }, { isCompleted, round });

/** Whether the agent finishes this document without a reviewer. */
async function isCompleted(text) {
  const { structuredResponse, __interrupt__ } = await call(text, new MemorySaver());
  return __interrupt__ === undefined && structuredResponse !== undefined;
}

/** @returns milliseconds and CPU milliseconds for all texts, and the outputs in their order */
async function round(texts, concurrency) {
  const saver = new MemorySaver();
  const outputs = [];
  let next = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const loop = async () => {
    while (next < texts.length) {
      const index = next++;
      outputs[index] = (await call(texts[index], saver)).structuredResponse;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000, outputs };
}

function call(text, saver) {
  calls += 1;
  const threadId = `thread-${calls}`;
  graph.checkpointer = saver;
  return graph.invoke(
    { messages: [{ role: "user", content: text }] },
    {
      configurable: { thread_id: threadId, [RUN_KEY]: runContext(threadId) },
      recursionLimit: agent.recursionLimit,
    },
  );
}

/** What the policy in the graph asks for. */
function runContext(threadId) {
  const { signal } = new AbortController();
  const activation = { agent: agent.name, runId: threadId, threadId, tenant: "default", attempt: 1, seq: 1 };
  const memory = { counters: countersInMemory(), effects: effectsInMemory() };
  const services = { ...memory, redactor, signal, drain: never, onEvent: () => {}, logger, env: {} };
  return { activation, services, answers: new Map() };
}
