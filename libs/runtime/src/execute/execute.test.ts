import { DroverError } from "@drover/contracts";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compiledGraphIn } from "../agent/compiled-graph.js";
import { activationOf, agentOf, rawAgent, servicesInMemory } from "../fixture/in-memory.js";
import type { LoadedAgent } from "../load/loaded-agent.js";
import { parsePolicy } from "../policy/policy.js";
import { execute } from "./execute.js";

const add = tool(({ a, b }) => String(a + b), {
  name: "add",
  description: "Adds",
  schema: z.object({ a: z.number(), b: z.number() }),
});

/** A graph of one channel and these nodes in a row. */
function graphOf(...nodes: ((state: { seen: string[] }) => unknown)[]): LoadedAgent {
  const State = Annotation.Root({
    seen: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  });
  const graph = new StateGraph(State) as unknown as {
    addNode(name: string, node: unknown): void;
    addEdge(from: string, to: string): void;
    compile(): unknown;
  };
  nodes.forEach((node, i) => {
    graph.addNode(`n${i}`, async (state: { seen: string[] }) => ({ seen: [await node(state)].flat() }));
    graph.addEdge(i === 0 ? START : `n${i - 1}`, `n${i}`);
  });
  graph.addEdge(`n${nodes.length - 1}`, END);
  const compiled = compiledGraphIn(graph.compile());
  if (!compiled) throw new Error("no graph");
  return {
    name: "raw",
    version: "0",
    description: undefined,
    definition: undefined,
    people: parsePolicy({}),
    times: {},
    recursionLimit: undefined,
    compile: async () => compiled,
  };
}

describe("a run from its start to its end", () => {
  it("gives the text of the last message, and counts what it used", async () => {
    const model = fakeModel()
      .respondWithTools([{ name: "add", args: { a: 1, b: 2 }, id: "c1" }])
      .respond(
        new AIMessage({
          content: "3",
          usage_metadata: { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
        } as never),
      );
    const services = servicesInMemory();
    const outcome = await execute(await agentOf({ model, tools: [add] }), activationOf(), services);
    expect(outcome).toMatchObject({
      kind: "completed",
      output: "3",
      endedBy: "completed",
      usage: { modelCalls: 2, toolCalls: 1, inputTokens: 7, outputTokens: 2 },
    });
  });

  it("gives the structured response where there is one", async () => {
    const model = fakeModel().respond(
      (messages) =>
        new AIMessage({
          content: "",
          tool_calls: [{ name: "extract-answer", args: { n: messages.length }, id: "c1", type: "tool_call" }],
        }),
    );
    const agent = await agentOf({
      model,
      responseFormat: z.object({ n: z.number() }).meta({ title: "extract-answer" }),
    });
    const services = servicesInMemory();
    const outcome = await execute(agent, activationOf(), services);
    expect(outcome).toMatchObject({ kind: "completed", output: { n: 1 } });
    // LangGraph does not store it: a worker that takes over at the very end finds it in the messages.
    const again = await execute(agent, activationOf({ kind: "takeover", seq: 2 }), services);
    expect(again).toMatchObject({ kind: "completed", output: { n: 1 } });
    expect(model.callCount).toBe(1);
  });

  it("runs a createAgent result without a policy", async () => {
    const agent = await rawAgent({ model: fakeModel().respond(new AIMessage("hi")), tools: [] });
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({ output: "hi" });
  });

  it("gives the values of a graph without messages, and refuses a text as its input", async () => {
    const agent = graphOf(() => "a");
    const outcome = await execute(agent, activationOf({ input: { seen: ["in"] } }), servicesInMemory());
    expect(outcome).toMatchObject({ kind: "completed", output: { seen: ["in", "a"] } });
    const refused = await execute(agent, activationOf({ input: "text" }), servicesInMemory());
    expect(refused).toMatchObject({ kind: "failed", error: { code: "INVALID_INPUT" }, retryable: false });
    const empty = await execute(agent, activationOf({ input: { typo: 1 } }), servicesInMemory());
    expect(empty).toMatchObject({ kind: "failed", error: { code: "INVALID_INPUT" } });
  });

  it("streams what was asked for, with the attempt on every event", async () => {
    const agent = graphOf(() => "a");
    const services = servicesInMemory();
    await execute(
      agent,
      activationOf({ input: { seen: ["in"] }, streamMode: ["updates"], attempt: 3 }),
      services,
    );
    expect(services.events).toEqual([
      { type: "updates", node: "n0", data: { seen: ["a"] }, attempt: 3, seq: 1 },
    ]);
  });
});

describe("what the thread's head decides", () => {
  it("a run that failed goes on where it stopped and does not take its input again", async () => {
    let fail = true;
    const agent = graphOf(
      () => "first",
      () => {
        if (fail) throw new Error("boom");
        return "second";
      },
    );
    const services = servicesInMemory();
    const input = { seen: ["in"] };
    expect(await execute(agent, activationOf({ input }), services)).toMatchObject({
      kind: "failed",
      error: { code: "AGENT_ERROR", message: "boom" },
      retryable: false,
      endedBy: "error",
    });
    fail = false;
    const again = await execute(agent, activationOf({ input, kind: "retry", seq: 2 }), services);
    expect(again).toMatchObject({ kind: "completed", output: { seen: ["in", "first", "second"] } });
  });

  it("a second run of the thread brings its own input", async () => {
    const agent = graphOf(() => "a");
    const services = servicesInMemory();
    await execute(agent, activationOf({ input: { seen: ["1"] } }), services);
    const second = await execute(agent, activationOf({ runId: "run-2", input: { seen: ["2"] } }), services);
    expect(second).toMatchObject({ output: { seen: ["1", "a", "2", "a"] } });
  });

  it("a takeover of a run whose input was never taken brings the input", async () => {
    const services = servicesInMemory();
    const takeover = activationOf({ kind: "takeover", seq: 2, input: { seen: ["in"] } });
    expect(
      await execute(
        graphOf(() => "a"),
        takeover,
        services,
      ),
    ).toMatchObject({
      output: { seen: ["in", "a"] },
    });
  });
});

describe("interrupts", () => {
  const ask = () => graphOf(() => interrupt({ question: "how much?" }));
  const input = { seen: [] };

  it("a plain question ends the activation, its answer goes on", async () => {
    const services = servicesInMemory();
    const agent = ask();
    const asked = await execute(agent, activationOf({ input: { seen: ["in"] } }), services);
    if (asked.kind !== "interrupted") throw new Error(asked.kind);
    const [question] = asked.questions;
    expect(question).toMatchObject({ actions: null, value: { question: "how much?" } });
    const resume = { values: { [question?.interruptId ?? ""]: "five" }, checkpointId: asked.checkpointId };
    const resumed = activationOf({ kind: "resume", seq: 2, input, resume });
    const answered = await execute(agent, resumed, services);
    expect(answered).toMatchObject({ kind: "completed", output: { seen: ["in", "five"] } });
    // The worker died before it could settle: the answers were taken, and are not given again.
    const takeover = await execute(agent, { ...resumed, kind: "takeover", seq: 3 }, services);
    expect(takeover).toMatchObject({ kind: "completed", output: { seen: ["in", "five"] } });
  });

  it("answers one of two questions; the other stays", async () => {
    const State = Annotation.Root({
      seen: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
    });
    const runs = { a: 0, b: 0 };
    const node = (name: "a" | "b") => () => {
      const answer: string = interrupt(name);
      runs[name] += 1;
      return { seen: [answer] };
    };
    const graph = new StateGraph(State)
      .addNode("a", node("a"))
      .addNode("b", node("b"))
      .addEdge(START, "a")
      .addEdge(START, "b")
      .compile();
    const agent = { ...ask(), compile: async () => graph as never };
    const services = servicesInMemory();
    const asked = await execute(agent, activationOf({ input: { seen: ["in"] } }), services);
    if (asked.kind !== "interrupted") throw new Error(asked.kind);
    expect(asked.questions.map((question) => question.value)).toEqual(["a", "b"]);
    const [first, second] = asked.questions.map((question) => question.interruptId);
    const values = { [first ?? ""]: "A" };
    const resume = { values, checkpointId: asked.checkpointId };
    const once = await execute(agent, activationOf({ kind: "resume", seq: 2, input, resume }), services);
    if (once.kind !== "interrupted") throw new Error(once.kind);
    expect(once.questions.map((question) => question.value)).toEqual(["b"]);
    expect(once.checkpointId).toBe(asked.checkpointId);
    const both = { values: { ...values, [second ?? ""]: "B" }, checkpointId: asked.checkpointId };
    const done = await execute(
      agent,
      activationOf({ kind: "resume", seq: 3, input, resume: both }),
      services,
    );
    expect(done).toMatchObject({ kind: "completed", output: { seen: ["in", "A", "B"] } });
    expect(runs).toEqual({ a: 1, b: 1 });
  });
});

describe("what stops a run", () => {
  it.each([
    ["CANCELLED", { kind: "cancelled", reason: "by me" }],
    ["DEADLINE_EXCEEDED", { kind: "timed_out", error: { code: "DEADLINE_EXCEEDED" } }],
    ["RUN_TIMEOUT", { kind: "timed_out", error: { code: "RUN_TIMEOUT" } }],
    ["LEASE_LOST", { kind: "superseded" }],
  ] as const)("%s, and then nothing more is called", async (code, expected) => {
    const services = servicesInMemory();
    let later = 0;
    const agent = graphOf(
      async () => {
        services.stop.abort(new DroverError(code, "by me"));
        await new Promise((resolve) => setTimeout(resolve, 20));
        return "ignores its signal";
      },
      () => {
        later += 1;
        return "b";
      },
    );
    const outcome = await execute(agent, activationOf({ input: { seen: ["in"] } }), services);
    expect(outcome).toMatchObject(expected);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(later).toBe(0);
  });

  it("a drain yields at the next step; another worker goes on from there", async () => {
    const services = servicesInMemory();
    const agent = graphOf(
      () => {
        services.drainer.abort();
        return "a";
      },
      () => "b",
    );
    const input = { seen: ["in"] };
    expect(await execute(agent, activationOf({ input }), services)).toMatchObject({ kind: "yielded" });
    const other = servicesInMemory({ checkpointer: services.checkpointer });
    expect(await execute(agent, activationOf({ kind: "handover", seq: 2, input }), other)).toMatchObject({
      kind: "completed",
      output: { seen: ["in", "a", "b"] },
    });
  });

  it("a saver that lost the lease supersedes", async () => {
    class Fenced extends MemorySaver {
      override put(): never {
        throw new DroverError("LEASE_LOST", "Another worker has the thread.");
      }
    }
    const services = servicesInMemory({ checkpointer: new Fenced() });
    const outcome = await execute(
      graphOf(() => "a"),
      activationOf({ input: { seen: ["in"] } }),
      services,
    );
    expect(outcome).toEqual({ kind: "superseded" });
  });

  it("a graph without an end is named", async () => {
    const model = fakeModel();
    for (let i = 0; i < 9; i++) model.respondWithTools([{ name: "add", args: { a: i, b: i }, id: `c${i}` }]);
    const agent = await agentOf({ model, tools: [add], policy: { modelTurns: 3 } });
    const outcome = await execute(agent, activationOf(), servicesInMemory());
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "RECURSION_LIMIT" } });
    expect(outcome).toHaveProperty("error.message", expect.stringContaining("policy.modelTurns"));
    expect(model.callCount).toBe(3);
  });
});

describe("the runtime context", () => {
  const contextSchema = z.object({ closedUntil: z.date(), key: z.string().default("none") });
  const seen: unknown[] = [];
  const look = tool(
    (_input, config) => {
      seen.push((config as { context?: unknown }).context);
      return "ok";
    },
    { name: "look", description: "Looks", schema: z.object({}) },
  );
  const agent = () =>
    agentOf({
      model: fakeModel()
        .respondWithTools([{ name: "look", args: {}, id: "c1" }])
        .respond(new AIMessage("done")),
      tools: [look],
      contextSchema,
    });

  it("has dates and credentials", async () => {
    const context = { closedUntil: { $date: "2026-08-31" }, key: { $credential: "ERP" } };
    const services = servicesInMemory({ env: { DROVER_CREDENTIAL_ERP: "s3cret" } });
    expect(await execute(await agent(), activationOf({ context }), services)).toMatchObject({
      kind: "completed",
    });
    expect(seen).toEqual([{ closedUntil: new Date("2026-08-31"), key: "s3cret" }]);
  });

  it("says which variable is missing, and what does not fit", async () => {
    const context = { closedUntil: { $date: "2026-08-31" }, key: { $credential: "ERP" } };
    expect(await execute(await agent(), activationOf({ context }), servicesInMemory())).toMatchObject({
      kind: "failed",
      error: { code: "MISSING_CREDENTIAL", message: expect.stringContaining("DROVER_CREDENTIAL_ERP") },
    });
    expect(await execute(await agent(), activationOf(), servicesInMemory())).toMatchObject({
      kind: "failed",
      error: { code: "INVALID_INPUT", message: expect.stringContaining("closedUntil") },
    });
  });
});

it("accepts messages as LangChain's SDKs send them", async () => {
  const model = fakeModel().respond((messages) => new AIMessage(`${messages.length}`));
  const input = { messages: [{ role: "user", content: "a" }, new HumanMessage("b").toJSON()] };
  const outcome = await execute(await agentOf({ model }), activationOf({ input }), servicesInMemory());
  expect(outcome).toMatchObject({ kind: "completed", output: "2" });
});
