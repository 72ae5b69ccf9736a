import { fakeModel } from "@langchain/core/testing";
import { type AgentMiddleware, createMiddleware, humanInTheLoopMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { recursionLimitOf } from "../policy/recursion-limit.js";
import { type AgentSpec, defineAgent, isAgentDefinition } from "./define-agent.js";

const pay = tool(() => "ok", { name: "pay", description: "", schema: z.object({}) });
const base = { name: "clerk", model: "offline:receipts", tools: [pay] };
const define = (more: Record<string, unknown>) => () => defineAgent({ ...base, ...more } as AgentSpec);
const policy = (given: unknown) => define({ policy: given });

describe("a definition that is refused, with the path of the key", () => {
  it.each([
    ["an unknown key", { tols: [] }, /"tols"/],
    ["a wrong name", { name: "two words" }, /name: /],
    ["no model", { model: undefined }, /model: is 'provider:model'/],
    ["no tool", { tools: [pay, 5] }, /tools\.1: is a tool/],
    ["two tools of one name", { tools: [pay, pay] }, /two tools are named 'pay'/],
    ["a wrong fallback", { fallbacks: [""] }, /fallbacks\.0: /],
    ["a wrong place", { middleware: [{ place: "middle", middleware: { name: "x" } }] }, /middleware\.0: /],
  ])("%s", (_, more, message) => {
    expect(define(more)).toThrow(message);
    expect(define(more)).toThrow(expect.objectContaining({ code: "INVALID_AGENT" }));
  });
});

describe("a policy that is refused, with the reason", () => {
  it.each([
    ["an unknown key", { modelCals: {} }, /"modelCals"/],
    ["a limit without a number", { modelCalls: {} }, /modelCalls: set 'run', 'thread' or both/],
    ["a limit of zero", { modelCalls: { run: 0 } }, /modelCalls\.run: a limit is 1 or more/],
    ["an unknown exit", { toolCalls: [{ run: 1, onLimit: "stop" }] }, /toolCalls\.0\.onLimit/],
    ["a run above its thread", { modelCalls: { run: 5, thread: 3 } }, /run 5 is never reached/],
    [
      "two limits of one tool",
      {
        toolCalls: [
          { tool: "pay", run: 1 },
          { tool: "pay", thread: 2 },
        ],
      },
      /limit already/,
    ],
    ["an empty list of decisions", { approvals: { pay: { decisions: [] } } }, /at least one decision/],
    ["a misspelt decision", { approvals: { pay: { decisions: ["aprove"] } } }, /approvals\.pay/],
    ["a decision twice", { approvals: { pay: { decisions: ["edit", "edit"] } } }, /twice/],
    ["a `when` that is no function", { approvals: { pay: { when: true } } }, /is a function/],
    ["an unknown tool in approvals", { approvals: { pray: true } }, /no tool 'pray' \(it has pay\)/],
    ["an unknown tool in once", { once: ["pray"] }, /once: the agent has no tool 'pray'/],
    ["a bad pattern", { once: ["pay (all)"] }, /once\.0/],
    ["a tool that is once and retried", { once: ["p*"], toolRetry: [{ tools: ["pay"] }] }, /marked once/],
    ["a longest wait below the first", { modelRetry: { initialDelayMs: 9, maxDelayMs: 5 } }, /maxDelayMs 5/],
    ["turns and steps", { modelTurns: 5, recursionLimit: 50 }, /set one of them/],
    ["steps that end before the calls", { modelCalls: { run: 20 }, recursionLimit: 30 }, /derived/],
    ["an unknown onFailure", { modelRetry: { onFailure: "ignore" } }, /modelRetry\.onFailure/],
  ])("%s", (_, given, message) => {
    expect(policy(given)).toThrow(message);
    expect(policy(given)).toThrow(expect.objectContaining({ code: "INVALID_POLICY" }));
  });

  it("LangChain's middleware for what the policy does, because composed they harm", () => {
    const middleware = [humanInTheLoopMiddleware({ interruptOn: { pay: true } } as never)];
    expect(define({ middleware })).toThrow(/write policy\.approvals/);
  });
});

it("is recognised across copies of the module, and has every default", () => {
  const agent = defineAgent(base);
  expect(isAgentDefinition(agent)).toBe(true);
  expect(isAgentDefinition({ ...agent })).toBe(false);
  expect((agent as unknown as Record<symbol, unknown>)[Symbol.for("drover.agent")]).toBe(true);
  expect(agent.version).toBe("1");
  expect(agent.policy).toMatchObject({
    modelRetry: {
      maxRetries: 2,
      initialDelayMs: 1000,
      backoffFactor: 2,
      maxDelayMs: 60_000,
      onFailure: "error",
    },
    toolErrors: { default: "message" },
  });
});

it("takes the older names of onFailure", () => {
  const agent = defineAgent({
    ...base,
    policy: {
      modelRetry: { onFailure: "raise" as "error" },
      toolRetry: [{ onFailure: "return_message" as "continue" }],
    },
  });
  expect([agent.policy.modelRetry.onFailure, agent.policy.toolRetry[0]?.onFailure]).toEqual([
    "error",
    "continue",
  ]);
});

it("derives the limit of steps from the turns", () => {
  const hooks = createMiddleware({
    name: "hooks",
    beforeModel: () => undefined,
    afterAgent: () => undefined,
  }) as AgentMiddleware;
  const limit = (more: Partial<AgentSpec>) =>
    recursionLimitOf(defineAgent({ ...base, model: fakeModel(), ...more }));
  expect(limit({})).toBe(100);
  expect(limit({ policy: { modelTurns: 10 } })).toBe(20);
  expect(limit({ policy: { modelCalls: { run: 9 }, approvals: { pay: true } } })).toBe(30);
  expect(limit({ policy: { modelTurns: 10 }, middleware: [hooks] })).toBe(31);
  expect(limit({ policy: { recursionLimit: 7 } })).toBe(7);
});
