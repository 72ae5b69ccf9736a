/**
 * Agents that bring planted values on every road: one of each kind for each strategy, and one without rules. The texts
 * come from the environment, so that this file holds none of them.
 */
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent } from "@drover/runtime";
import { ToolMessage } from "@langchain/core/messages";
import { Annotation, Command, END, interrupt, Send, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const planted = JSON.parse(process.env.PLANTED ?? "{}");
const types = JSON.parse(process.env.PLANTED_TYPES ?? "[]");
const schema = z.object({ text: z.string().optional() });
const named = (name, act, more = {}) => tool(act, { name, description: `Does ${name}`, schema, ...more });

const files = Annotation.Root({
  files: Annotation({ reducer: (a, b) => ({ ...a, ...b }), default: () => ({}) }),
});
const tools = [
  named("look", () => "looked"),
  named("tell", () => planted.tool_result),
  named("show", () => ["shown", { scan: planted.artifact }], { responseFormat: "content_and_artifact" }),
  named("offload", (_, { toolCallId }) => {
    const messages = [new ToolMessage({ content: "saved", tool_call_id: toolCallId })];
    return new Command({ update: { files: { "/notes.md": planted.file }, messages } });
  }),
  named("remember", async (_, { store }) => {
    await store.put(["notes"], "one", { text: planted.memory });
    return (await store.get(["notes"], "one")).value.text.length > 0 ? "remembered" : "forgot";
  }),
  named("shout", (_, { writer }) => {
    writer?.({ said: planted.custom_event });
    return "shouted";
  }),
  named("stumble", () => {
    throw new Error(`no such row: ${planted.handled_error}`);
  }),
  named("die", () => {
    throw new Error(`no such row: ${planted.fatal_error}`);
  }),
  named("pay", ({ text }) => `paid ${text}`),
  named("ask", () => `the answer is ${JSON.stringify(interrupt({ question: planted.question }))}`),
  named("wonder", () => `the answer is ${JSON.stringify(interrupt({ question: "What now?" }))}`),
  named("order", () => planted.once),
  named("delegate", async () => {
    const sub = createAgent({ model: new ChatOpenAI({ model: "gpt-4o-mini", maxRetries: 0 }), tools: [] });
    const said = await sub.invoke({ messages: [{ role: "user", content: `sub: ${planted.subagent}` }] });
    return said.messages.at(-1).text;
  }),
  named("wait", async ({ text }) => {
    appendFileSync(process.env.LEDGER, `${JSON.stringify({ waits: true })}\n`);
    while (!existsSync(`${process.env.LEDGER}.open`)) await sleep(20);
    return `waited: ${planted.crash} ${text}`;
  }),
];

const rulesOf = (strategy) => {
  if (strategy === "none" && !process.env.LATE_RULES) return [];
  return types.map((type) => ({
    type,
    strategy: strategy === "none" ? "redact" : strategy,
    everywhere: true,
  }));
};
const agent = (name, strategy, { policy = {}, ...more }) =>
  defineAgent({
    name: `${name}_${strategy}`,
    model: "openai:gpt-4o-mini",
    policy: { modelRetry: { maxRetries: 0 }, pii: rulesOf(strategy), ...policy },
    ...more,
  });

const worker = (strategy) =>
  agent("worker", strategy, {
    tools,
    stateSchema: z.object({ files: z.record(z.string(), z.string()).optional() }),
    policy: {
      approvals: { pay: { decisions: ["approve", "edit", "reject", "respond"] } },
      toolErrors: { tools: { die: "fail" } },
      once: ["order"],
    },
  });
const thinker = (strategy) => agent("thinker", strategy, { model: "anthropic:claude-haiku-4-5" });
const former = (strategy) =>
  agent("former", strategy, { responseFormat: z.object({ note: z.string(), people: z.array(z.string()) }) });

export const worker_redact = worker("redact");
export const worker_mask = worker("mask");
export const worker_hash = worker("hash");
export const worker_block = worker("block");
export const worker_none = worker("none");
export const thinker_redact = thinker("redact");
export const thinker_mask = thinker("mask");
export const thinker_hash = thinker("hash");
export const thinker_block = thinker("block");
export const thinker_none = thinker("none");
export const former_redact = former("redact");
export const former_mask = former("mask");
export const former_hash = former("hash");
export const former_block = former("block");
export const former_none = former("none");

const State = Annotation.Root({
  text: Annotation(),
  notes: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
  files: files.spec.files,
});
/** A graph of LangGraph's own, which has no policy: only the fleet's rules can be in force for it. */
export const graph = new StateGraph(State)
  .addNode("scatter", ({ text }, { writer }) => {
    writer?.({ heard: text });
    return { notes: [text], files: { "/in.txt": planted.file } };
  })
  .addNode("note", ({ note }) => ({ notes: [`${note} and ${planted.output}`] }))
  .addNode("ask", () => ({
    notes: [`answered ${JSON.stringify(interrupt({ question: planted.question }))}`],
  }))
  .addNode("fail", ({ text }) => {
    if (String(text).startsWith("fail")) throw new Error(`it broke at ${planted.fatal_error}`);
    return {};
  })
  .addEdge(START, "scatter")
  .addConditionalEdges("scatter", () => [new Send("note", { note: planted.sent }), "fail"])
  .addEdge("fail", "ask")
  .addEdge("ask", END)
  .compile();
