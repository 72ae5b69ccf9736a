/** Agents for tests. What they do to the world is a line in the file that LEDGER names. */
import { AsyncLocalStorage } from "node:async_hooks";
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, registerOfflineRules } from "@drover/runtime";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const note = (line) =>
  appendFileSync(process.env.LEDGER, `${JSON.stringify({ ...line, pid: process.pid })}\n`);

const State = Annotation.Root({
  id: Annotation(),
  ms: Annotation(),
  steps: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

const step = (name) => async (state, config) => {
  note({ run: state.id, step: name });
  await sleep(state.ms ?? 0, undefined, { signal: config.signal });
  return { steps: [name] };
};

/** Five steps, each of `ms` milliseconds. */
export const stepper = new StateGraph(State)
  .addNode("one", step("one"))
  .addNode("two", step("two"))
  .addNode("three", step("three"))
  .addNode("four", step("four"))
  .addNode("five", step("five"))
  .addEdge(START, "one")
  .addEdge("one", "two")
  .addEdge("two", "three")
  .addEdge("three", "four")
  .addEdge("four", "five")
  .addEdge("five", END)
  .compile();

export const endless = new StateGraph(State)
  .addNode("again", (state) => ({ steps: [`${state.steps.length}`] }))
  .addEdge(START, "again")
  .addEdge("again", "again")
  .compile();

export const broken = new StateGraph(State)
  .addNode("fails", () => {
    throw new Error("this node is broken");
  })
  .addEdge(START, "fails")
  .addEdge("fails", END)
  .compile();

/** Forgets a promise that fails. */
export const forgetful = new StateGraph(State)
  .addNode("forgets", () => {
    Promise.reject(new Error("nobody waits for this"));
    return { steps: ["forgot"] };
  })
  .addEdge(START, "forgets")
  .addEdge("forgets", END)
  .compile();

const outsideOfRuns = AsyncLocalStorage.snapshot();
/** Follows the events of an agent that works for no run, and whose tool throws. */
export const following = new StateGraph(State)
  .addNode("follows", () =>
    outsideOfRuns(async () => {
      const fails = tool(
        () => {
          throw new Error("this tool is broken");
        },
        { name: "fails", description: "Fails.", schema: z.object({}) },
      );
      const model = fakeModel().respondWithTools([{ name: "fails", args: {}, id: "c" }]);
      const inner = createAgent({ model: model.respond(new AIMessage("it failed")), tools: [fails] });
      const events = await inner.streamEvents({ messages: ["go"] }, { version: "v3" });
      return { steps: [(await events.output).messages.at(-1).text] };
    }),
  )
  .addEdge(START, "follows")
  .addEdge("follows", END)
  .compile();

/** Asks two questions one after the other and gives both answers. */
export const asker = new StateGraph(State)
  .addNode("first", () => ({ steps: [interrupt({ question: "first?" })] }))
  .addNode("second", () => ({ steps: [interrupt({ question: "second?" })] }))
  .addEdge(START, "first")
  .addEdge("first", "second")
  .addEdge("second", END)
  .compile();

/** Remembers ids in LangGraph's store, across threads, and gives those that it knew before. */
export const rememberer = new StateGraph(State)
  .addNode("remembers", async (state, { store }) => {
    const known = await store.search(["ids"]);
    await store.put(["ids"], state.id, { seen: true });
    return { steps: known.map((item) => item.key) };
  })
  .addEdge(START, "remembers")
  .addEdge("remembers", END)
  .compile();

/** Kills its worker after `ms` milliseconds. */
export const killer = new StateGraph(State)
  .addNode("dies", async (state) => {
    await sleep(state.ms ?? 0);
    process.kill(process.pid, "SIGKILL");
  })
  .addEdge(START, "dies")
  .addEdge("dies", END)
  .compile();

/** Blocks the event loop for `ms` milliseconds, the first time that it runs. */
export const blocker = new StateGraph(State)
  .addNode("blocks", (state) => {
    const isFirst = !readFileSync(process.env.LEDGER, "utf8").includes(state.id);
    note({ run: state.id, step: "blocks" });
    const end = Date.now() + (isFirst ? state.ms : 0);
    while (Date.now() < end);
    return { steps: [`by ${process.pid}`] };
  })
  .addEdge(START, "blocks")
  .addEdge("blocks", END)
  .compile();

registerOfflineRules("poster", (messages) => {
  const last = messages.at(-1);
  if (last.type === "tool") return { content: `posted: ${last.content}` };
  const { id, ms } = JSON.parse(String(last.content));
  return { toolCalls: [{ name: "post", args: { id, ms } }] };
});

const post = tool(
  async ({ id, ms }) => {
    note({ run: id, post: "started" });
    await sleep(ms);
    note({ run: id, post: "ended" });
    return `receipt for ${id}`;
  },
  { name: "post", description: "Posts once.", schema: z.object({ id: z.string(), ms: z.number() }) },
);

/** One call of a tool that must not happen twice. */
export const poster = defineAgent({
  name: "poster",
  model: "offline:poster",
  tools: [post],
  policy: { once: ["post"] },
});
