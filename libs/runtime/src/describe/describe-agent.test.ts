import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { type AgentMiddleware, createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../agent/define-agent.js";
import { execute } from "../execute/execute.js";
import { activationOf, rawAgent, servicesInMemory } from "../fixture/in-memory.js";
import { fleetPolicyOf } from "../fleet/read.js";
import { loadDefinition } from "../load/loaded-agent.js";
import type { Policy } from "../policy/policy.js";
import { describeAgent } from "./describe-agent.js";

const pay = tool(() => "paid", { name: "pay", description: "", schema: z.object({}) });
const loaded = (policy: Policy, more: object = {}, fleet?: object) =>
  loadDefinition(
    defineAgent({ name: "clerk", model: "offline:receipts", tools: [pay], policy, ...more }),
    {},
    fleet && fleetPolicyOf(fleet, "fleet.json"),
  );

const full: Policy = {
  modelCalls: { run: 9 },
  toolCalls: [{ tool: "pay", run: 2 }],
  toolRetry: [{}],
  approvals: {
    pay: {
      when: function large() {
        return false;
      },
    },
  },
  guards: { pay: () => undefined },
  pii: [{ type: "nik", detector: /\d{16}/ }],
  todoList: true,
  summarization: { trigger: { messages: 40 } },
  toolSelector: {},
};

describe("the order of behaviours", () => {
  it("moment by moment, outermost first, each with its reason", async () => {
    const own = (name: string, hooks: object) => createMiddleware({ name, ...hooks }) as AgentMiddleware;
    const wrap = (_: unknown, handler: (request: unknown) => unknown) => handler(_);
    const hooks = {
      beforeModel: () => undefined,
      afterModel: () => undefined,
      wrapModelCall: wrap,
      wrapToolCall: wrap,
    };
    const middleware = [
      own("a", hooks),
      { place: "outermost", middleware: own("b", hooks) },
      own("c", { afterAgent: () => undefined }),
    ];
    const { behaviours } = describeAgent(await loaded(full, { middleware, fallbacks: ["offline:receipts"] }));
    expect(behaviours.map(({ moment, name }) => `${moment}: ${name}`)).toEqual([
      "before the model: b",
      "before the model: a",
      "around the model: b",
      "around the model: to-do list",
      "around the model: summarisation",
      "around the model: tool selector",
      "around the model: fallback",
      "around the model: model retry",
      "around the model: a",
      "around the model: limit of model calls",
      "around the model: PII rules",
      "after the model: a",
      "after the model: guards",
      "after the model: limits of tool calls",
      "after the model: approval",
      "after the model: b",
      "around a tool: b",
      "around a tool: to-do list",
      "around a tool: guards",
      "around a tool: approval",
      "around a tool: tool retry",
      "around a tool: tool errors",
      "around a tool: a",
      "around a tool: limits of tool calls",
      "around a tool: PII rules",
      "after the agent: c",
    ]);
    for (const { why } of behaviours) expect(why.length).toBeGreaterThan(10);
  });

  it("is the order in which hooks really run", async () => {
    const log: string[] = [];
    const noting = (name: string) => {
      const note = (moment: string) => {
        log.push(`${moment}: ${name}`);
        return undefined;
      };
      return createMiddleware({
        name,
        beforeModel: () => note("before the model"),
        afterModel: () => note("after the model"),
        wrapModelCall: (request, handler) => {
          note("around the model");
          return handler(request);
        },
      }) as AgentMiddleware;
    };
    const approvals = { pay: { when: () => log.push("after the model: approval") === 0 } };
    const guards = { pay: () => (log.push("guards") === 0 ? "no" : undefined) };
    const middleware = [noting("a"), { place: "outermost", middleware: noting("b") }];
    const model = fakeModel()
      .respondWithTools([{ name: "pay", args: {}, id: "1" }])
      .respond(new AIMessage("done"));
    const agent = await loaded({ approvals, guards }, { model, middleware });
    await execute(agent, activationOf({ agent: "clerk" }), servicesInMemory());
    const order = describeAgent(agent).behaviours.map(({ moment, name }) => `${moment}: ${name}`);
    const turn = log.slice(0, log.indexOf("guards"));
    expect(turn).toEqual(order.filter((line) => turn.includes(line)));
    expect(turn).toHaveLength(7);
  });
});

describe("the settings in effect", () => {
  it("every default is there, and says where it comes from", async () => {
    const fleet = {
      defaults: { modelRetry: { jitter: false } },
      ceilings: { modelCalls: { run: 5 }, approvals: { pay: true as const } },
    };
    const { settings, fleetPolicy, recursionLimit } = describeAgent(await loaded(full, {}, fleet));
    const at = (path: string) => settings.find((setting) => setting.path === path);
    expect(at("modelRetry.onFailure")).toEqual({
      path: "modelRetry.onFailure",
      value: "error",
      from: "default",
    });
    expect(at("modelRetry.jitter")).toMatchObject({ value: false, from: "fleet default" });
    expect(at("toolRetry.0.onFailure")).toMatchObject({ value: "continue", from: "default" });
    expect(at("toolCalls.0.onLimit")).toMatchObject({ value: "continue", from: "default" });
    expect(at("toolCalls.0.run")).toMatchObject({ value: 2, from: "agent" });
    expect(at("modelCalls.run")).toMatchObject({ value: 5, from: "fleet ceiling" });
    expect(at("approvals.pay.decisions")).toMatchObject({
      value: ["approve", "edit", "reject"],
      from: "default",
    });
    expect(at("approvals.pay.when")).toBeUndefined();
    expect(at("pii.0.detector")).toMatchObject({ value: "/\\d{16}/", from: "agent" });
    expect([fleetPolicy, recursionLimit]).toEqual(["fleet.json", 18]);
  });

  it("functions and tools are named, and what is not asked about is false", async () => {
    const { settings } = describeAgent(await loaded({ ...full, toolRetry: [{ tools: [pay] }] }));
    const tools = settings.find(({ path }) => path === "toolRetry.0.tools");
    expect(tools).toMatchObject({ value: ["pay"], from: "agent" });
    const { settings: unasked } = describeAgent(await loaded({ approvals: { pay: false } }));
    expect(unasked).toContainEqual({ path: "approvals.pay", value: false, from: "agent" });
    expect(settings.find(({ path }) => path === "approvals.pay.when")?.value).toBe("(function large)");
  });

  it("a graph without a definition has what the fleet says of people, services and personal data", async () => {
    const agent = await rawAgent({ model: fakeModel(), tools: [] });
    expect(describeAgent(agent)).toMatchObject({ behaviours: [], models: [], recursionLimit: null });
    expect(describeAgent(agent).settings).toContainEqual({ path: "pii", value: [], from: "default" });
  });

  it("kinds of message that must be signed are the agent's and the fleet's together", async () => {
    const fleet = {
      defaults: { signedMessages: ["run.start" as const] },
      ceilings: { signedMessages: ["run.cancel" as const] },
    };
    const shown = async (policy: Policy) =>
      describeAgent(await loaded(policy, {}, fleet)).settings.find(({ path }) => path === "signedMessages");
    const from = "fleet ceiling";
    expect(await shown({})).toMatchObject({ value: ["run.cancel", "run.start"], from });
    expect(await shown({ signedMessages: [] })).toMatchObject({ value: ["run.cancel"], from });
    expect(await shown({ signedMessages: ["run.cancel"] })).toMatchObject({
      value: ["run.cancel"],
      from: "agent",
    });
  });
});
