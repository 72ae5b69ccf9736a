import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import fc from "fast-check";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AgentSpec, defineAgent } from "../agent/define-agent.js";
import { execute } from "../execute/execute.js";
import { activationOf, servicesInMemory } from "../fixture/in-memory.js";
import { loadAgents } from "../load/load-agents.js";
import { loadDefinition, toLoadedAgent } from "../load/loaded-agent.js";
import { approvalRuleFor } from "../policy/approval-rules.js";
import type { Policy } from "../policy/policy.js";
import { withFleetPolicy } from "./apply.js";
import { fleetPolicyOf } from "./read.js";

const tools = ["pay", "post_entry", "look"].map((name) =>
  tool(() => "ok", { name, description: "", schema: z.object({}) }),
);
const agentWith = (policy: Policy, more: Partial<AgentSpec> = {}) =>
  defineAgent({ name: "clerk", model: "offline:receipts", tools, policy, ...more });
const under = (policy: Policy, fleet: object) =>
  withFleetPolicy(agentWith(policy), fleetPolicyOf(fleet, "fleet.json")).policy;

describe("defaults of a fleet", () => {
  it("stand where the agent says nothing", () => {
    const defaults = {
      modelCalls: { run: 30 },
      modelRetry: { maxRetries: 5, jitter: false },
      approvals: { pay: true },
    };
    expect(under({}, { defaults })).toMatchObject({
      modelCalls: { run: 30, onLimit: "end" },
      modelRetry: { maxRetries: 5, jitter: false, initialDelayMs: 1000 },
      approvals: { pay: { decisions: ["approve", "edit", "reject"] } },
    });
    const own = under(
      { modelCalls: { thread: 9 }, modelRetry: { maxRetries: 1 }, approvals: { pay: false } },
      { defaults },
    );
    expect(own.modelCalls).toEqual({ thread: 9, onLimit: "end" });
    expect(own.modelRetry).toMatchObject({ maxRetries: 1, jitter: false });
    expect(own.approvals).toEqual({ pay: null });
  });

  it("name tools only for agents that have them", () => {
    const defaults = {
      approvals: { fly: true, "x_*": true },
      once: ["fly"],
      toolCalls: [{ tool: "fly", run: 1 }, { run: 9 }],
      toolRetry: [{ tools: ["fly"] }, { tools: ["fly", "look"] }],
      toolErrors: { tools: { fly: "fail" } },
    };
    expect(under({}, { defaults })).toMatchObject({
      approvals: { "x_*": {} },
      once: [],
      toolCalls: [{ run: 9 }],
      toolRetry: [{ tools: ["look"] }],
      toolErrors: { tools: {} },
    });
  });
});

const limit = fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined });
const scopes = fc.record({ run: limit, thread: limit });
const isLegal = ({ run, thread }: { run?: number | undefined; thread?: number | undefined }) =>
  (run ?? 0) <= (thread ?? 9) && (run ?? thread) !== undefined;
const atMost = (value: number | undefined, most: number | undefined) =>
  most === undefined || (value ?? Number.POSITIVE_INFINITY) <= most;

describe("ceilings of a fleet", () => {
  it("limits are never above the agent's or the fleet's", () => {
    fc.assert(
      fc.property(scopes.filter(isLegal), scopes, fc.boolean(), (own, most, hasTool) => {
        const name = hasTool ? { tool: "pay" } : {};
        const fleet = { ceilings: { modelCalls: most, toolCalls: [{ ...name, ...most }] } };
        const merged = under({ modelCalls: own, toolCalls: [{ ...name, ...own }] }, fleet);
        for (const limits of [merged.modelCalls, merged.toolCalls[0]]) {
          for (const scope of ["run", "thread"] as const) {
            expect(atMost(limits?.[scope], own[scope]) && atMost(limits?.[scope], most[scope])).toBe(true);
          }
        }
        expect(merged.toolCalls).toHaveLength(1);
      }),
    );
  });

  it("hold for agents that set no limit, and keep what their limits do", () => {
    const fleet = {
      ceilings: {
        modelCalls: { run: 9 },
        toolCalls: [
          { tool: "pay", run: 1 },
          { tool: "fly", run: 1 },
        ],
      },
    };
    expect(under({}, fleet)).toMatchObject({
      modelCalls: { run: 9, onLimit: "end" },
      toolCalls: [{ tool: "pay", run: 1, onLimit: "continue" }],
    });
    const own = {
      modelCalls: { run: 20, onLimit: "error" as const },
      toolCalls: [{ tool: "pay", run: 3, onLimit: "end" as const }],
    };
    expect(under(own, fleet)).toMatchObject({
      modelCalls: { run: 9, onLimit: "error" },
      toolCalls: [{ tool: "pay", run: 1, onLimit: "end" }],
    });
  });

  it("retries and turns", () => {
    const fleet = { ceilings: { maxRetries: 1, modelTurns: 10 } };
    expect(
      under({ toolRetry: [{ maxRetries: 0 }, { tools: ["look"], maxRetries: 5 }] }, fleet),
    ).toMatchObject({
      modelRetry: { maxRetries: 1 },
      toolRetry: [{ maxRetries: 0 }, { maxRetries: 1 }],
      modelTurns: 10,
    });
    expect(under({ modelTurns: 4 }, fleet)).toMatchObject({ modelTurns: 4 });
    expect(under({ modelCalls: { run: 5 } }, fleet)).toMatchObject({ modelTurns: 6 });
    expect(under({ recursionLimit: 12 }, fleet)).toMatchObject({ recursionLimit: 12, modelTurns: undefined });
    expect(under({ recursionLimit: 90 }, fleet)).toMatchObject({ recursionLimit: undefined, modelTurns: 10 });
  });

  it("times: an agent may be quicker, never slower", () => {
    const timeLimits = { runMs: 9000, stepMs: 3000, tools: { "p*": 500, fly: 9 } };
    const fleet = { ceilings: { timeLimits } };
    expect(under({}, fleet).timeLimits).toEqual({
      ...{ runMs: 9000, stepMs: 3000, tools: {}, toolCeilings: { "p*": 500 }, onToolLimit: "error" },
    });
    const own = { runMs: 9999, stepMs: 7, tools: { pay: 900 }, onToolLimit: "continue" as const };
    expect(under({ timeLimits: own }, fleet).timeLimits).toMatchObject({ ...own, runMs: 9000 });
    expect(under({ timeLimits: own }, { ceilings: { timeLimits: { stepMs: 60 } } }).timeLimits).toMatchObject(
      own,
    );
  });

  it("once: nobody repeats it, whatever the agent retries", () => {
    const fleet = { ceilings: { once: ["pay", "fly"] } };
    const merged = under(
      { once: ["post_entry"], toolRetry: [{ tools: ["pay", "look"] }, { tools: ["pay"] }] },
      fleet,
    );
    expect(merged.once).toEqual(["post_entry", "pay"]);
    expect(merged.toolRetry.map((rule) => rule.tools)).toEqual([["look"]]);
  });

  it("PII rules are in force everywhere, beside the agent's", () => {
    const fleet = { ceilings: { pii: [{ type: "iban" }, { type: "email", except: ["tool_args"] }] } };
    expect(under({ pii: [{ type: "ip" }] }, fleet).pii).toMatchObject([
      { type: "iban", everywhere: true },
      { type: "email", everywhere: false, except: ["tool_args"] },
      { type: "ip" },
    ]);
  });
});

describe("approvals that a fleet wants", () => {
  const never = { when: () => false };
  it.each<[string, Policy["approvals"]]>([
    ["says nothing", undefined],
    ["says no", { pay: false, post_entry: false }],
    ["says no by a pattern", { "*": false }],
    ["never asks", { pay: never, post_entry: never, "post_*": never }],
  ])("are asked where the agent %s", (_, approvals) => {
    const merged = under(approvals ? { approvals } : {}, {
      ceilings: { approvals: { pay: true, "post_*": true } },
    });
    for (const name of ["pay", "post_entry", "post_at_run_time"]) {
      expect(approvalRuleFor(merged, name)).toMatchObject({ when: undefined });
    }
    expect(approvalRuleFor(merged, "look")).toBeUndefined();
  });

  it("are as strict as both together", () => {
    const fleet = {
      ceilings: {
        approvals: {
          pay: {
            decisions: ["approve", "reject"],
            assignees: ["ann", "bob"],
            expiresMs: 5000,
            onExpire: "fail",
          },
        },
      },
    };
    const own = {
      decisions: ["edit", "reject"] as never,
      assignees: ["bob", "eve"],
      expiresMs: 9000,
      description: "Pay?",
    };
    expect(under({ approvals: { pay: own } }, fleet).approvals.pay).toMatchObject({
      decisions: ["reject"],
      assignees: ["bob"],
      expiresMs: 5000,
      onExpire: "fail",
      description: "Pay?",
    });
    expect(() => under({ approvals: { pay: { ...own, assignees: ["eve"] } } }, fleet)).toThrow(
      /approvals.pay: the agent's assignees .eve. and the fleet's .ann, bob. have none in common.*fleet.json/,
    );
  });
});

it("a run obeys it", async () => {
  const model = fakeModel()
    .respondWithTools([{ name: "look", args: {}, id: "1" }])
    .respond(new AIMessage("never"));
  const fleet = fleetPolicyOf({ ceilings: { modelCalls: { run: 1 } } }, "fleet.json");
  const agent = await loadDefinition(agentWith({ modelCalls: { run: 50 } }, { model }), {}, fleet);
  expect(agent.recursionLimit).toBe(4);
  const activation = activationOf({ agent: "clerk" });
  expect(await execute(agent, activation, servicesInMemory())).toMatchObject({ endedBy: "model_call_limit" });
});

describe("a run obeys its times", () => {
  const slow = tool((_, { signal }) => sleep(60_000, "late", { signal }), {
    name: "slow",
    description: "",
    schema: z.object({}),
  });
  const codeUnder = async (own: Policy["timeLimits"], ceiling: object) => {
    const model = fakeModel().respondWithTools([{ name: "slow", args: {}, id: "1" }]);
    const fleet = fleetPolicyOf({ ceilings: { timeLimits: ceiling } }, "fleet.json");
    const definition = agentWith({ timeLimits: own }, { model, tools: [slow] });
    const agent = await loadDefinition(definition, {}, fleet);
    const outcome = await execute(agent, activationOf({ agent: "clerk" }), servicesInMemory());
    return outcome.kind === "timed_out" ? outcome.error.code : outcome.kind;
  };

  it.each<[object, string]>([
    [{ runMs: 100 }, "RUN_TIMEOUT"],
    [{ stepMs: 100 }, "STEP_TIMEOUT"],
    [{ tools: { slow: 100 } }, "TOOL_TIMEOUT"],
    [{ tools: { "*": 100 } }, "TOOL_TIMEOUT"],
  ])("the fleet's %j, whatever the agent says; or its own", async (times, code) => {
    const loose = { runMs: 50_000, stepMs: 50_000, tools: { slow: 50_000 } };
    expect([await codeUnder(loose, times), await codeUnder(times, loose)]).toEqual([code, code]);
  });

  it.each([
    [
      "RUN_TIMEOUT",
      { defaults: { timeLimits: { runMs: 60_000 } }, ceilings: { timeLimits: { runMs: 100 } } },
    ],
    ["STEP_TIMEOUT", { defaults: { timeLimits: { stepMs: 100 } } }],
  ])("%s, where it is a graph without a policy", async (code, json) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("sleeps", (_, { signal }) => sleep(60_000, {}, { signal }))
      .addEdge(START, "sleeps")
      .compile();
    const agent = await toLoadedAgent(graph, {
      ...{ root: import.meta.dirname, where: "", env: {}, fleet: fleetPolicyOf(json, "fleet.json") },
      entry: { name: "raw", file: "fleet.test.ts", exportName: "raw", description: undefined },
    });
    const outcome = await execute(agent, activationOf({ agent: "raw" }), servicesInMemory());
    expect(outcome).toMatchObject({ kind: "timed_out", error: { code } });
  });
});

describe("the file", () => {
  const load = (fleet: unknown) => {
    const root = mkdtempSync(join(tmpdir(), "drover-fleet-"));
    const source = `import { defineAgent } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
export const clerk = defineAgent({ name: "clerk", model: "offline:receipts" });`;
    writeFileSync(join(root, "agents.mjs"), source);
    writeFileSync(join(root, "langgraph.json"), JSON.stringify({ graphs: { clerk: "./agents.mjs:clerk" } }));
    const text = typeof fleet === "string" ? fleet : JSON.stringify(fleet);
    writeFileSync(join(root, "policy.json"), text);
    return loadAgents({ root, env: {}, fleetPolicy: "policy.json" });
  };

  it("is read from the project's folder", async () => {
    const agent = (await load({ defaults: { modelCalls: { run: 3 } } })).get("clerk");
    expect(agent.definition?.policy.modelCalls).toEqual({ run: 3, onLimit: "end" });
    expect(agent.fleet?.file).toMatch(/policy\.json$/);
  });

  it.each([
    ["{", /policy\.json is not JSON/],
    [{ ceiling: {} }, /policy\.json: .*"ceiling"/],
    [
      { ceilings: { modelCalls: { run: 0 } } },
      /policy\.json: ceilings\.modelCalls\.run: a limit is 1 or more/,
    ],
    [{ defaults: { modelRetry: { onFailure: "later" } } }, /policy\.json: defaults\.modelRetry\.onFailure/],
    [{ ceilings: { pii: [{ type: "email", strategy: "x" }] } }, /policy\.json: ceilings\.pii\.0\.strategy/],
  ])("%j is refused with its name and the path", async (fleet, message) => {
    await expect(load(fleet)).rejects.toThrow(message);
    await expect(load(fleet)).rejects.toMatchObject({ code: "INVALID_POLICY" });
  });

  it("that is not there is named", async () => {
    const root = mkdtempSync(join(tmpdir(), "drover-fleet-"));
    await expect(loadAgents({ root, env: {}, fleetPolicy: "none.json" })).rejects.toThrow(
      /none\.json could not be read/,
    );
  });
});
