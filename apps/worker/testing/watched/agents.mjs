/** Agents that go through everything that dashboards show. What the model answers is scripted by the provider. */
import { appendFileSync, readFileSync } from "node:fs";
import { defineAgent } from "@drover/runtime";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { tool } from "langchain";
import { z } from "zod";

const note = (line) => appendFileSync(process.env.LEDGER, `${JSON.stringify(line)}\n`);
const isNew = (word) => !readFileSync(process.env.LEDGER, "utf8").includes(word);

const lookUp = tool(
  ({ broken }) => {
    if (broken) throw new Error("the register does not answer");
    return "found";
  },
  { name: "look_up", description: "Looks up.", schema: z.object({ broken: z.boolean().optional() }) },
);

/** Its worker dies of the first call that is told so. */
const pay = tool(
  ({ dies }) => {
    note({ pay: dies ?? "lives" });
    if (dies) process.kill(process.pid, "SIGKILL");
    return "paid";
  },
  { name: "pay", description: "Pays.", schema: z.object({ dies: z.string().optional() }) },
);

const transfer = tool(() => "done", { name: "transfer", description: "Transfers.", schema: z.object({}) });

const quick = { initialDelayMs: 1, maxDelayMs: 5, jitter: false };

export const clerk = defineAgent({
  name: "clerk",
  model: "openai:gpt-4o-mini",
  fallbacks: ["anthropic:claude-haiku-4-5"],
  tools: [lookUp, pay, transfer],
  policy: {
    modelRetry: { ...quick, maxRetries: 1, onFailure: "error" },
    toolRetry: [{ ...quick, tools: ["look_up"], maxRetries: 1 }],
    modelCalls: { run: 4 },
    once: ["pay"],
    approvals: { transfer: { expiresMs: 600_000 } },
    pii: [{ type: "email", applyToInput: true }],
  },
});

export const unpriced = defineAgent({
  name: "unpriced",
  model: "openai:a-model-of-tomorrow",
  tools: [],
  policy: {},
});

const State = Annotation.Root({ id: Annotation(), ms: Annotation() });

/** Blocks its worker's event loop, the first time. */
export const blocker = new StateGraph(State)
  .addNode("blocks", ({ id, ms }) => {
    const isFirst = isNew(id);
    note({ blocks: id });
    const end = Date.now() + (isFirst ? ms : 0);
    while (Date.now() < end);
    return {};
  })
  .addEdge(START, "blocks")
  .addEdge("blocks", END)
  .compile();

/** Dies of every document that is poisonous. */
export const reader = new StateGraph(State)
  .addNode("reads", ({ id }) => {
    if (id === "poisonous") process.kill(process.pid, "SIGKILL");
    return {};
  })
  .addEdge(START, "reads")
  .addEdge("reads", END)
  .compile();
