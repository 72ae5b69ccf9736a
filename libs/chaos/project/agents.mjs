/** Agents for the harness. What they do to the world is a line in its ledger. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, registerOfflineRules, withReconcile } from "@drover/runtime";
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { tool } from "langchain";
import { z } from "zod";
import { DEAD_VARIABLE, LEDGER_VARIABLE, note, readLedger } from "../dist/ledger.js";

const State = Annotation.Root({
  run: Annotation(),
  thread: Annotation(),
  ms: Annotation(),
  steps: Annotation({ reducer: (_, b) => b }),
});

const step = (name, isFirst) => async (state, config) => {
  note({ what: "step", run: state.run, thread: state.thread, name });
  await sleep(state.ms ?? 0, undefined, { signal: config.signal });
  // The thread's earlier runs left their steps: each run begins with none.
  return { steps: [...(isFirst ? [] : state.steps), name] };
};

const chain = (names, nodeOf) => {
  const graph = new StateGraph(State);
  names.forEach((name, i) => {
    graph.addNode(name, nodeOf(name, i));
    graph.addEdge(i === 0 ? START : names[i - 1], name);
  });
  return graph.addEdge(names.at(-1), END).compile();
};

/** Four steps of `ms` milliseconds each. */
export const steps = chain(["one", "two", "three", "four"], (name, i) => step(name, i === 0));

/** A step, a graph of two steps in one node, a step. */
const inner = chain(["in-1", "in-2"], (name) => step(name, false));
export const nested = chain(["before", "inner", "after"], (name, i) =>
  name === "inner" ? inner : step(name, i === 0),
);

/** Asks two questions one after the other and gives both answers. */
export const asker = chain(["first", "second"], (name, i) => (state) => {
  note({ what: "step", run: state.run, thread: state.thread, name });
  const answer = interrupt({ question: name, run: state.run });
  return { steps: [...(i === 0 ? [] : state.steps), `${name}: ${answer}`] };
});

/** Calls `tools` in the first turn and tells what they answered in the second. */
const inTurns =
  (tools, before = () => {}) =>
  (messages) => {
    const asked = messages.findLast((message) => message.type === "human");
    const task = JSON.parse(String(asked.content));
    note({ what: "model", run: task.run, thread: task.thread, name: "model" });
    before(task);
    const answers = messages.slice(messages.indexOf(asked) + 1).filter((message) => message.type === "tool");
    if (answers.length > 0) return { content: answers.map((answer) => answer.content).join(" | ") };
    return { toolCalls: tools.map((name) => ({ name, args: task })) };
  };

const schema = z.object({ run: z.string(), thread: z.string(), ms: z.number() });

const act = (what, name) =>
  tool(
    async ({ run, thread, ms }, config) => {
      note({ what, run, thread, name, ...(what === "once" ? { call: config.toolCall?.id ?? name } : {}) });
      await sleep(ms, undefined, { signal: config.signal });
      return `${name} for ${run}`;
    },
    { name, description: `Does ${name}.`, schema },
  );

const agent = (name, tools, policy, before) => {
  registerOfflineRules(
    name,
    inTurns(
      tools.map((one) => one.name),
      before,
    ),
  );
  return defineAgent({ name, model: `offline:${name}`, tools, policy });
};

/** One tool that must not happen twice and that nobody can be asked about. */
export const poster = agent("poster", [act("once", "post")], { once: ["post"] });

/**
 * A tool marked once, and the ledger knows what became of a call: as somebody's order system would. A call that it does
 * not know did not happen if whoever started it is dead for sure; a worker that only sleeps may make it yet.
 */
const known = (name) =>
  withReconcile(act("once", name), ({ run }, { toolCallId }) => {
    const isBooked = readLedger(process.env[LEDGER_VARIABLE]).some(
      (line) => line.what === "once" && line.run === run && line.call === toolCallId,
    );
    if (isBooked) return { outcome: "done", result: `${name} for ${run}` };
    return { outcome: process.env[DEAD_VARIABLE] === "1" ? "not_done" : "unknown" };
  });

/** Three tools at once, one of them marked once. */
export const parallel = agent("parallel", [act("tool", "look"), known("book"), act("tool", "count")], {
  once: ["book"],
});

/** A tool that a human must approve, and that must not happen twice. */
export const approver = agent("approver", [known("pay")], { once: ["pay"], approvals: { pay: true } });

/** An agent of its own behind a tool: two steps, with checkpoints under those of the run that calls it. */
const helper = tool(
  async (task, config) => {
    const { steps: taken } = await inner.invoke({ ...task, steps: [] }, { signal: config.signal });
    return `${taken.join(" and ")} for ${task.run}`;
  },
  { name: "helper", description: "Has a helper do it.", schema },
);

/** Three tools at once: one of them a subagent, one that a human must approve and that must not happen twice. */
export const team = agent("team", [act("tool", "look"), helper, known("pay")], {
  once: ["pay"],
  approvals: { pay: true },
});

/** Five requests to the model in a thread, whoever makes them; a run needs two. */
export const limited = agent("limited", [act("tool", "look")], { modelCalls: { thread: 5 } });

/** A provider that fails at a run's first request, so that the run is tried again, after a while. */
export const flaky = agent("flaky", [act("tool", "look")], { modelRetry: { maxRetries: 0 } }, ({ run }) => {
  const lines = readFileSync(process.env[LEDGER_VARIABLE], "utf8")
    .split("\n")
    .filter((line) => line.includes(`"${run}"`));
  const requests = lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.run === run && line.what === "model");
  if (requests.length === 1) throw Object.assign(new Error("503 the model is overloaded"), { status: 503 });
});
