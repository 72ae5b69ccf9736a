/** Agents that carry texts through everything that is stored: arguments, results, memory, events, errors. */
import { defineAgent, registerOfflineRules } from "@drover/runtime";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { tool } from "langchain";
import { z } from "zod";

/** Pays with what the input says, then remembers it, then says what it has done. */
registerOfflineRules("keeper", (messages) => {
  const { pay, remember, say } = JSON.parse(String(messages.find(({ type }) => type === "human").content));
  const answers = messages.filter(({ type }) => type === "tool");
  if (answers.length === 0) return { toolCalls: [{ name: "pay", args: { memo: pay } }] };
  if (answers.length === 1) return { toolCalls: [{ name: "remember", args: { text: remember } }] };
  return { content: say };
});

const memo = z.object({ memo: z.string() });
const pay = tool(({ memo }) => `receipt: ${memo}`, { name: "pay", description: "Pays.", schema: memo });

const remember = tool(
  async ({ text }, runtime) => {
    await runtime.store.put(["notes"], "last", { text });
    runtime.writer?.({ remembered: text });
    return "remembered";
  },
  { name: "remember", description: "Keeps a text.", schema: z.object({ text: z.string() }) },
);

export const keeper = defineAgent({
  name: "keeper",
  model: "offline:keeper",
  tools: [pay, remember],
  policy: { once: ["pay"], approvals: { pay: { decisions: ["approve", "edit", "reject"] } } },
});

export const failing = new StateGraph(Annotation.Root({ why: Annotation() }))
  .addNode("fails", ({ why }) => {
    throw new Error(why);
  })
  .addEdge(START, "fails")
  .addEdge("fails", END)
  .compile();
