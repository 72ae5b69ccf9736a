/** Agents whose behaviours meet at a question. What they do to the world is a line in the file that LEDGER names. */
import { appendFileSync } from "node:fs";
import { defineAgent, registerOfflineRules } from "@drover/runtime";
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { createMiddleware, tool } from "langchain";
import { z } from "zod";

const note = (line) => appendFileSync(process.env.LEDGER, `${JSON.stringify(line)}\n`);

/** Calls what the input lists, then says what the tools answered. */
registerOfflineRules("caller", (messages) => {
  const human = messages.findLastIndex((message) => message.type === "human");
  const answers = messages.slice(human + 1).filter((message) => message.type === "tool");
  if (answers.length > 0) return { content: answers.map((message) => message.content).join(" | ") };
  return { toolCalls: JSON.parse(String(messages[human].content)) };
});

/** Asks for one more payment, whatever became of the last. */
registerOfflineRules("insister", (messages) => {
  const turn = messages.filter((message) => message.type === "ai").length + 1;
  note({ asks: messages[0].content, turn });
  return { toolCalls: [{ name: "pay", args: { amount: turn } }] };
});

registerOfflineRules("down", (messages) => {
  note({ calls: messages[0].content });
  throw Object.assign(new Error("the provider is down"), { status: 503 });
});

const pay = tool(
  ({ amount }) => {
    note({ amount });
    return `paid ${amount}`;
  },
  { name: "pay", description: "Pays.", schema: z.object({ amount: z.number() }) },
);
const agent = (name, policy, more = {}) =>
  defineAgent({
    name,
    version: process.env.AGENT_VERSION ?? "1",
    model: "offline:caller",
    tools: [pay],
    policy,
    ...more,
  });
const decisions = JSON.parse(process.env.DECISIONS ?? "null") ?? undefined;
const approvals = { pay: { decisions } };

export const payer = agent("payer", { approvals });
export const limited = agent("limited", { approvals, toolCalls: [{ tool: "pay", run: 1 }] });
export const insisting = agent(
  "insisting",
  { approvals, modelCalls: { run: 2 } },
  { model: "offline:insister" },
);
export const jumping = agent(
  "jumping",
  { approvals },
  {
    middleware: [
      createMiddleware({
        name: "jump",
        afterModel: {
          canJumpTo: ["tools"],
          hook: ({ messages }) => (messages.at(-1).tool_calls?.length > 0 ? { jumpTo: "tools" } : undefined),
        },
      }),
    ],
  },
);

const State = Annotation.Root({
  id: Annotation(),
  steps: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
const asks = (question) => () => ({ steps: [interrupt({ question })] });
const graph = (nodes) => {
  const builder = new StateGraph(State);
  for (const [name, act] of Object.entries(nodes)) {
    builder.addNode(name, act).addEdge(START, name).addEdge(name, END);
  }
  return builder.compile();
};
const subagent = graph({ inner: asks("inside?") });

const asker = (name, act) =>
  tool(
    async (_, config) => {
      note({ asker: name, thread: config.configurable?.thread_id });
      return act(config);
    },
    { name, description: "Asks.", schema: z.object({}) },
  );

const quick = { initialDelayMs: 1, maxDelayMs: 5, jitter: false };

/** Tools that ask, themselves and in a subagent, under a rule of retry. */
export const asking = agent(
  "asking",
  { toolRetry: [{ ...quick }] },
  {
    tools: [
      asker("ask", () => String(interrupt({ question: "sure?" }))),
      asker("delegate", async (config) => (await subagent.invoke({ id: "x" }, config)).steps.join()),
    ],
  },
);

/** Asks inside of the retries and the fallback of a model call. */
export const careful = agent(
  "careful",
  { modelRetry: quick },
  {
    fallbacks: ["offline:insister"],
    middleware: [
      createMiddleware({
        name: "careful",
        wrapModelCall: (request, handler) => {
          note({ before: request.messages[0].content });
          if (request.messages.length === 1) interrupt({ question: "may I?" });
          return handler(request);
        },
      }),
    ],
  },
);

/** Would be tried for a minute, and then on another model. */
export const failing = agent(
  "failing",
  { modelRetry: { maxRetries: 20, initialDelayMs: 300, backoffFactor: 1, jitter: false } },
  { model: "offline:down", fallbacks: ["offline:insister"] },
);

export const parallel = graph({ left: asks("left?"), right: asks("right?") });
export const twice = graph({
  both: () => ({ steps: [interrupt({ question: "first?" }), interrupt({ question: "second?" })] }),
});
