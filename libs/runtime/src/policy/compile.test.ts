import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { MemorySaver } from "@langchain/langgraph";
import { type AgentMiddleware, createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../agent/define-agent.js";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, rawAgent, servicesInMemory } from "../fixture/in-memory.js";
import { compilePolicy } from "./compile.js";
import type { Policy } from "./policy.js";

const add = tool(() => "ok", { name: "add", description: "", schema: z.object({}) });
const full: Policy = {
  modelCalls: { run: 9 },
  toolCalls: [{ run: 9 }, { tool: "add", run: 8, onLimit: "error" }],
  toolRetry: [{ initialDelayMs: 1 }],
  approvals: { add: { when: () => false } },
  guards: { add: () => undefined },
};

class CountingSaver extends MemorySaver {
  puts = 0;
  override put(...args: Parameters<MemorySaver["put"]>) {
    this.puts += 1;
    return super.put(...args);
  }
}

/** Checkpoints of three model turns. */
async function checkpoints(kind: "bare" | Policy): Promise<number> {
  const model = fakeModel()
    .respondWithTools([{ name: "add", args: {}, id: "1" }])
    .respondWithTools([{ name: "add", args: {}, id: "2" }])
    .respond(new AIMessage("done"));
  const checkpointer = new CountingSaver();
  const agent =
    kind === "bare"
      ? await rawAgent({ model, tools: [add] })
      : await agentOf({ model, tools: [add], policy: kind });
  const outcome = await execute(agent, activationOf(), servicesInMemory({ checkpointer }));
  expect(outcome).toMatchObject({ kind: "completed", output: "done" });
  return checkpointer.puts;
}

describe("what a policy costs", () => {
  it("no checkpoint more than the bare agent, and with approvals at most half as many again", async () => {
    const bare = await checkpoints("bare");
    const { approvals: _, ...unasked } = full;
    expect(await checkpoints(unasked)).toBe(bare);
    expect((await checkpoints(full)) / bare).toBeLessThanOrEqual(1.5);
  });

  it("one graph for all runs of a process", async () => {
    const agent = await agentOf({ model: fakeModel(), policy: full, tools: [add] });
    expect(await agent.compile()).toBe(await agent.compile({ configurable: { thread_id: "t" } }));
  });
});

describe("what stands where", () => {
  const own = (name: string, log: string[]) =>
    createMiddleware({
      name,
      wrapModelCall: (request, handler) => {
        log.push(name);
        return handler(request);
      },
    }) as AgentMiddleware;

  it("one middleware, or two around the agent's own that wrap calls", () => {
    const compiled = (middleware: AgentMiddleware[]) =>
      compilePolicy(
        defineAgent({ name: "a", model: "offline:receipts", tools: [add], policy: full, middleware }),
        { primary: fakeModel(), fallbacks: [] },
        ["add"],
      ).map(({ name }) => name);
    expect(compiled([])).toEqual(["drover"]);
    expect(
      compiled([createMiddleware({ name: "node", beforeModel: () => undefined }) as AgentMiddleware]),
    ).toEqual(["drover", "node"]);
    expect(compiled([own("own", [])])).toEqual(["drover", "own", "drover gate"]);
  });

  it("outermost sees a turn once, inner sees each try, last stands inside of all", async () => {
    const log: string[] = [];
    const model = fakeModel()
      .respond(Object.assign(new Error("busy"), { status: 503 }))
      .respond(new AIMessage("done"));
    const agent = await agentOf({
      model,
      policy: { modelRetry: { initialDelayMs: 1 } },
      middleware: [
        { place: "last", middleware: own("last", log) },
        own("inner", log),
        { place: "outermost", middleware: own("outer", log) },
      ],
    });
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({ output: "done" });
    expect(log).toEqual(["outer", "inner", "last", "inner", "last"]);
  });

  it("all six hooks of the agent's own run, with their state and their jumps", async () => {
    const log: string[] = [];
    const note = (name: string) => () => {
      log.push(name);
      return undefined;
    };
    const all = createMiddleware({
      name: "all",
      stateSchema: z.object({ budget: z.number().default(3) }),
      beforeAgent: note("beforeAgent"),
      beforeModel: {
        canJumpTo: ["end"],
        hook: (state) => {
          log.push(`beforeModel ${state.budget}`);
          return state.budget > 1 ? undefined : { jumpTo: "end" as const };
        },
      },
      afterModel: (state) => {
        log.push("afterModel");
        return { budget: state.budget - 2 };
      },
      afterAgent: note("afterAgent"),
      wrapModelCall: (request, handler) => {
        log.push("wrapModelCall");
        return handler(request);
      },
      wrapToolCall: (request, handler) => {
        log.push("wrapToolCall");
        return handler(request);
      },
    }) as unknown as AgentMiddleware;
    const model = fakeModel().respondWithTools([{ name: "add", args: {}, id: "1" }]);
    const agent = await agentOf({ model, tools: [add], policy: full, middleware: [all] });
    const input = { messages: [{ role: "user", content: "hi" }], budget: 3 };
    const outcome = await execute(agent, activationOf({ input }), servicesInMemory());
    expect(outcome.kind).toBe("completed");
    expect(log.join(", ")).toMatch(
      /^beforeAgent, beforeModel 3, wrapModelCall, afterModel, wrapToolCall, beforeModel 1/,
    );
  });
});
