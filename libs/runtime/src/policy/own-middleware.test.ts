import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";

import { type AgentMiddleware, createMiddleware, tool } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentSpec } from "../agent/define-agent.js";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory } from "../fixture/in-memory.js";
import { type ProviderServer, startProviderServer } from "../testing/index.js";

/** Middleware that an agent brings: LangChain's, where it is right, and one's own. */
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer({ script: [] });
});
afterEach(() => server.close());

const OPENAI = "openai:gpt-5.4-mini";
const named = (name: string) =>
  tool(() => `result of ${name} ${"r".repeat(200)}`, {
    name,
    description: "",
    schema: z.object({ n: z.number().optional() }),
  });
const look = named("look");
const calling = (name: string, n = 1) => ({ toolCalls: [{ name, args: { n } }] });
const as = (middleware: unknown) => middleware as AgentMiddleware;

async function run(
  spec: Partial<AgentSpec>,
  more: Parameters<typeof activationOf>[0] = {},
  services = servicesInMemory(),
) {
  const agent = await agentOf({ model: OPENAI, tools: [look], ...spec }, server.env);
  return { services, outcome: await execute(agent, activationOf(more), services) };
}

describe("one's own", () => {
  it("jumps to the end, to the model and to the tools, where it declared that", async () => {
    let jumps = 0;
    const jumping = createMiddleware({
      name: "jumping",
      beforeModel: {
        canJumpTo: ["tools", "end"],
        hook: (state) => {
          jumps += 1;
          if (jumps === 1) {
            const tool_calls = [{ id: "own", name: "look", args: {} }];
            return { messages: [new AIMessage({ content: "", tool_calls })], jumpTo: "tools" as const };
          }
          const isDone = state.messages.some((message) => message.text === "enough");
          return isDone ? { jumpTo: "end" as const } : undefined;
        },
      },
      afterModel: {
        canJumpTo: ["model"],
        hook: (state) =>
          state.messages.at(-1)?.text === "once more?"
            ? { messages: [new HumanMessage("yes")], jumpTo: "model" as const }
            : undefined,
      },
    });
    const model = fakeModel().respond(new AIMessage("once more?")).respond(new AIMessage("enough"));
    const { outcome, services } = await run({ model, middleware: [as(jumping)] });
    expect(outcome).toMatchObject({ kind: "completed", output: "enough" });
    const tuple = await services.checkpointer.getTuple({ configurable: { thread_id: "thread-1" } });
    const messages = tuple?.checkpoint.channel_values.messages as BaseMessage[];
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai", "human", "ai"]);
  });

  it("a jump that was not declared fails the run", async () => {
    const jumping = createMiddleware({ name: "j", beforeModel: () => ({ jumpTo: "end" as const }) as never });
    const { outcome } = await run({ model: fakeModel(), middleware: [as(jumping)] });
    expect(outcome).toMatchObject({
      kind: "failed",
      error: { message: expect.stringContaining("Invalid jump target") },
    });
  });

  it("has a state of its own that lasts over runs, with initial values by the caller", async () => {
    const counting = createMiddleware({
      name: "counting",
      stateSchema: z.object({ seen: z.number().default(0), label: z.string().default("none") }),
      afterModel: (state) => ({ seen: state.seen + 1 }),
    });
    const spec = {
      model: fakeModel().respond(new AIMessage("a")).respond(new AIMessage("b")),
      middleware: [as(counting)],
      output: ({ seen, label }: Record<string, unknown>) => ({ seen, label }),
    };
    const services = servicesInMemory();
    const input = { messages: [{ role: "user", content: "hi" }], label: "mine" };
    expect((await run(spec, { input }, services)).outcome).toMatchObject({
      output: { seen: 1, label: "mine" },
    });
    expect((await run(spec, { runId: "run-2" }, services)).outcome).toMatchObject({
      output: { seen: 2, label: "mine" },
    });
    const refused = await run(spec, { runId: "run-3", input: { ...input, other: 1 } }, services);
    expect(refused.outcome).toMatchObject({
      error: { code: "INVALID_INPUT", message: expect.stringContaining("other") },
    });
  });

  it("sees of the runtime context what its schema names, in every hook", async () => {
    const seen: unknown[] = [];
    const note = (_: unknown, runtime: { context?: unknown }) => {
      seen.push({ ...(runtime.context as object) });
      return undefined;
    };
    const reading = createMiddleware({
      name: "reading",
      contextSchema: z.object({ region: z.string(), tier: z.string().default("free") }),
      beforeAgent: note,
      beforeModel: note,
      afterModel: note,
      afterAgent: note,
      wrapModelCall: (request, handler) => {
        note(request, request.runtime);
        return handler(request);
      },
    });
    await run(
      { model: fakeModel().respond(new AIMessage("a")), middleware: [as(reading)] },
      { context: { region: "EU" } },
    );
    expect(seen).toEqual(Array.from({ length: 5 }, () => ({ region: "EU", tier: "free" })));
  });

  it("may answer in a tool's and in a model's place: then no unit is taken", async () => {
    const instead = createMiddleware({
      name: "instead",
      wrapToolCall: ({ toolCall }) => new ToolMessage({ content: "cached", tool_call_id: toolCall.id ?? "" }),
    });
    server.use([calling("look"), { text: "done" }]);
    const { services } = await run({
      middleware: [as(instead)],
      policy: { toolCalls: [{ run: 5 }], modelCalls: { run: 5 } },
    });
    expect(Object.fromEntries(services.counters.taken)).toEqual({ "run model": 2 });
  });

  it("two of one name are refused at load", async () => {
    const own = as(createMiddleware({ name: "own", beforeModel: () => undefined }));
    await expect(agentOf({ model: fakeModel(), middleware: [own, own] })).rejects.toThrow(
      /own is defined multiple times/,
    );
  });
});
