/** Agents for tests of messages and approvals. What they do to the world is a line in the file that LEDGER names. */
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, registerOfflineRules } from "@drover/runtime";
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { tool } from "langchain";
import { z } from "zod";

const note = (line) =>
  appendFileSync(process.env.LEDGER, `${JSON.stringify({ ...line, pid: process.pid })}\n`);

const VERSION = process.env.AGENT_VERSION ?? "1";

/** Calls what the input lists, then says what the tools answered. */
registerOfflineRules("caller", (messages) => {
  const human = messages.findLastIndex((message) => message.type === "human");
  const answers = messages.slice(human + 1).filter((message) => message.type === "tool");
  if (answers.length > 0) return { content: answers.map((message) => message.content).join(" | ") };
  return { toolCalls: JSON.parse(String(messages[human].content)) };
});

const named = (name) =>
  tool(
    ({ amount }) => {
      note({ tool: name, amount });
      return `${name} ${amount}`;
    },
    { name, description: "Pays.", schema: z.object({ amount: z.number(), memo: z.string().optional() }) },
  );

const agent = (name, tools, policy) =>
  defineAgent({ name, version: VERSION, model: "offline:caller", tools: tools.map(named), policy });

export const payer = agent("payer", ["pay", "look"], {
  approvals: { pay: { decisions: ["approve", "edit", "reject", "respond"] } },
});

export const guarded = agent("guarded", ["pay"], { approvals: { pay: { assignees: ["ada", "audit"] } } });

export const signing = agent("signing", ["pay"], {
  approvals: { pay: true },
  signedMessages: ["run.start", "run.resume", "run.cancel"],
});

export const expiring = agent("expiring", ["pay_reject", "pay_approve", "pay_fail", "pay_slow", "pay_next"], {
  approvals: {
    pay_reject: { expiresMs: 1000 },
    pay_approve: { expiresMs: 1000, onExpire: "approve" },
    pay_fail: { expiresMs: 1000, onExpire: "fail" },
    pay_slow: { expiresMs: 600_000 },
    pay_next: { expiresMs: 1500, assignees: ["ada"], escalateTo: ["cfo"] },
  },
});

export const secretive = agent("private", ["pay"], {
  approvals: { pay: true },
  pii: [{ type: "email", strategy: "redact" }],
});

const State = Annotation.Root({
  id: Annotation(),
  steps: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
const ask = (question) => () => ({ steps: [interrupt({ question })] });

const inner = new StateGraph(State)
  .addNode("asks", ask("inner?"))
  .addEdge(START, "asks")
  .addEdge("asks", END)
  .compile();

/** A question in a subgraph. */
export const nested = new StateGraph(State)
  .addNode("sub", inner)
  .addEdge(START, "sub")
  .addEdge("sub", END)
  .compile();

/** Works for a while with the answer that it got. */
export const slow = new StateGraph(State)
  .addNode("works", async (state, config) => {
    const answer = interrupt({ question: "which?" });
    note({ run: state.id, answer });
    await sleep(2000, undefined, { signal: config.signal });
    return { steps: [answer] };
  })
  .addEdge(START, "works")
  .addEdge("works", END)
  .compile();

/** Fails the first time that it runs for an id. */
export const failing = new StateGraph(State)
  .addNode("fails", (state) => {
    const isFirst = !readFileSync(process.env.LEDGER, "utf8").includes(state.id);
    note({ run: state.id });
    if (isFirst) throw new Error("not yet");
    return { steps: ["done"] };
  })
  .addEdge(START, "fails")
  .addEdge("fails", END)
  .compile();
