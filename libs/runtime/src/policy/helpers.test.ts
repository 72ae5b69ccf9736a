import { AIMessage, type BaseMessage, isToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory, type TestServices } from "../fixture/in-memory.js";
import { type ProviderServer, startProviderServer } from "../testing/index.js";
import type { Policy } from "./policy.js";

/** What asks a model beside the agent: the selector and the emulator; and the to-do list. */
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer({ script: [] });
});
afterEach(() => server.close());

const OPENAI = "openai:gpt-4o-mini";
const CLAUDE = "anthropic:claude-haiku-4-5";
const started: string[] = [];
const named = (name: string) =>
  tool(() => `real ${started.push(name)}`, { name, description: `Does ${name}`, schema: z.object({}) });
const tools = ["search", "mail", "pay", "book"].map(named);
const choose = (...names: string[]) => ({ toolCalls: [{ name: "selected_tools", args: { tools: names } }] });

async function run(policy: Policy, services = servicesInMemory()) {
  started.length = 0;
  const agent = await agentOf({ model: OPENAI, tools, policy }, server.env);
  return { services, outcome: await execute(agent, activationOf({ streamMode: ["updates"] }), services) };
}

async function toolMessages(services: TestServices) {
  const tuple = await services.checkpointer.getTuple({ configurable: { thread_id: "thread-1" } });
  const messages = tuple?.checkpoint.channel_values.messages as BaseMessage[];
  return messages.filter(isToolMessage).map(({ name, status, text }) => [name, status, text]);
}

describe("the tool selector", () => {
  const answering = (selection: object) =>
    server.use((request) => (request.api === "anthropic-messages" ? selection : { text: "done" }));
  const shown = () => server.requests.find(({ api }) => api !== "anthropic-messages")?.tools;

  it("shows the model what was chosen, at most maxTools, and what is always there", async () => {
    answering(choose("pay", "search", "mail"));
    const toolSelector = { model: CLAUDE, maxTools: 2, alwaysInclude: ["bo*"], systemPrompt: "Choose well." };
    const { outcome, services } = await run({ toolSelector, modelCalls: { run: 9 } });
    expect(outcome).toMatchObject({ kind: "completed", usage: { modelCalls: 2 } });
    expect(services.counters.taken.get("run model")).toBe(2);
    expect(shown()).toEqual(["search", "pay", "book"]);
    const asked = JSON.stringify(server.requests[0]?.body);
    expect(asked).toContain("Choose well.");
    expect(asked).toContain("only the first 2 are used");
    expect(asked).toContain("- pay: Does pay");
    expect(asked).not.toContain("- book");
  });

  it.each([
    ["fails", { status: 400 }],
    ["answers no list", { text: "all of them" }],
  ])("shows all tools where it %s", async (_, reply) => {
    answering(reply);
    const { outcome } = await run({ toolSelector: { model: CLAUDE }, modelRetry: { maxRetries: 0 } });
    expect(outcome).toMatchObject({ kind: "completed", output: "done" });
    expect(shown()).toHaveLength(4);
  });

  it("asks the agent's own model by default", async () => {
    server.use([{ text: '{"tools": ["mail"]}' }, { text: "done" }]);
    await run({ toolSelector: {} });
    expect(server.requests.map((request) => request.tools)).toEqual([[], ["mail"]]);
  });

  it("names no tool that the agent lacks", async () => {
    await expect(run({ toolSelector: { alwaysInclude: ["fly"] } })).rejects.toThrow(
      /toolSelector.alwaysInclude/,
    );
  });
});

describe("the tool emulator", () => {
  const calling = (name: string) => ({ toolCalls: [{ name, args: {} }] });

  it.each([
    ["all tools by default", {}, true],
    ["the named ones", { tools: ["pay"] }, true],
    ["a tool by itself", { tools: tools.filter(({ name }) => name === "pay") }, true],
    ["no other", { tools: ["mail"] }, false],
    ["none of an empty list", { tools: [] }, false],
  ])("answers for %s", async (_, rule, isEmulated) => {
    server.use((request) => {
      if (request.api === "anthropic-messages") return { text: "as if paid" };
      return request.messages.length > 1 ? { text: "done" } : calling("pay");
    });
    const { services, outcome } = await run({
      toolEmulator: { model: CLAUDE, ...rule },
      modelCalls: { run: 9 },
    });
    expect(outcome).toMatchObject({ kind: "completed", usage: { modelCalls: isEmulated ? 3 : 2 } });
    expect(services.counters.taken.get("run model")).toBe(isEmulated ? 3 : 2);
    expect(await toolMessages(services)).toEqual([["pay", "success", isEmulated ? "as if paid" : "real 1"]]);
  });

  it("by the agent's own model; a limit ends it, and the call has its answer", async () => {
    server.use([calling("pay"), { text: "never" }]);
    const { services, outcome } = await run({ toolEmulator: {}, modelCalls: { run: 1 } });
    expect(outcome).toMatchObject({ kind: "completed", endedBy: "model_call_limit" });
    expect(await toolMessages(services)).toEqual([["pay", "error", "The limit of model calls was reached."]]);
    expect(started).toEqual([]);
  });
});

describe("the to-do list", () => {
  const todos = (content: string, id: string) => ({
    name: "write_todos",
    args: { todos: [{ content, status: "in_progress" }] },
    id,
  });

  it("has its tool and its prompt, and its progress is visible while the run goes on", async () => {
    const model = fakeModel()
      .respondWithTools([todos("first", "1")])
      .respond(new AIMessage("done"));
    const agent = await agentOf({ model, systemPrompt: "You help.", policy: { todoList: true } });
    const services = servicesInMemory();
    await execute(agent, activationOf({ streamMode: ["updates"] }), services);
    const update = services.events.find(
      ({ type, ...rest }) => type === "updates" && JSON.stringify(rest).includes("first"),
    );
    expect(update).toMatchObject({ data: expect.anything() });
    expect(JSON.stringify(services.events)).toContain('"todos":[{"content":"first","status":"in_progress"}]');
    const system = model.calls[0]?.messages[0]?.text ?? "";
    expect(system).toMatch(/^You help\.\n\n## `write_todos`/);
  });

  it("with words of one's own", async () => {
    server.use([{ text: "done" }]);
    await run({ todoList: { systemPrompt: "Keep a list.", toolDescription: "Writes it." } });
    const body = JSON.stringify(server.requests[0]?.body);
    expect(body).toContain("Keep a list.");
    expect(body).toContain("Writes it.");
  });

  it("two calls in one answer: the model is told and goes on", async () => {
    const model = fakeModel()
      .respondWithTools([todos("a", "1"), todos("b", "2")])
      .respondWithTools([todos("both", "3")])
      .respond(new AIMessage("done"));
    const agent = await agentOf({ model, policy: { todoList: true } });
    const services = servicesInMemory();
    expect(await execute(agent, activationOf(), services)).toMatchObject({ output: "done" });
    const answers = await toolMessages(services);
    expect(answers.map(([, status]) => status)).toEqual(["error", "error", undefined]);
    expect(answers[0]?.[2]).toContain("Call it once");
  });

  it("a tool of one's own by its name is refused", () => {
    const own = named("write_todos");
    expect(() => agentOf({ model: OPENAI, tools: [own], policy: { todoList: true } })).toThrow(/two tools/);
  });
});
