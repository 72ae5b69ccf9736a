import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory, type TestServices } from "../fixture/in-memory.js";
import type { Policy } from "./policy.js";

const FOREVER = 60_000;
let started: string[] = [];
let stopped: string[] = [];

/** `deaf` does not listen to its signal. */
const named = (name: string, ms: number) =>
  tool(
    async (_, { signal }) => {
      started.push(name);
      signal?.addEventListener("abort", () => stopped.push(name));
      await (name === "deaf" ? sleep(ms) : sleep(ms, undefined, { signal }));
      return `${name} is done`;
    },
    { name, description: name, schema: z.object({}) },
  );
const tools = [named("slow", FOREVER), named("deaf", 1500), named("fast", 0), named("pay", FOREVER)];
const calls = (...names: string[]) => names.map((name) => ({ name, args: {}, id: `${name}-call` }));

async function run(policy: Policy, asked: string[], more = servicesInMemory()) {
  started = [];
  stopped = [];
  const model = fakeModel()
    .respondWithTools(calls(...asked))
    .respond(new AIMessage("after"));
  const agent = await agentOf({ model, tools, policy: { modelRetry: { maxRetries: 0 }, ...policy } });
  const began = performance.now();
  const outcome = await execute(agent, activationOf(), more);
  return { outcome, ms: performance.now() - began, model, services: more };
}

async function messagesOf(services: TestServices): Promise<BaseMessage[]> {
  const tuple = await services.checkpointer.getTuple({ configurable: { thread_id: "thread-1" } });
  return tuple?.checkpoint.channel_values.messages as BaseMessage[];
}

/** Whether the thread takes another run, whose model is sent a history that is in order. */
async function isUsable(services: TestServices): Promise<void> {
  const model = fakeModel().respond(new AIMessage("goes on"));
  const agent = await agentOf({ model, tools });
  const again = servicesInMemory({ checkpointer: services.checkpointer });
  const outcome = await execute(agent, activationOf({ runId: "run-2", input: "And now?" }), again);
  expect(outcome).toMatchObject({ kind: "completed", output: "goes on" });
}

describe("a tool that takes too long", () => {
  it.each([["slow"], ["deaf"]])("ends the run, and nothing more is called: %s", async (name) => {
    const policy = { timeLimits: { tools: { [name]: 50 } } };
    const { outcome, ms, model, services } = await run(policy, [name, "fast"]);
    expect(outcome).toMatchObject({ kind: "timed_out", error: { code: "TOOL_TIMEOUT" } });
    expect(ms).toBeLessThan(1400);
    expect(stopped).toContain(name);
    expect(model.callCount).toBe(1);
    await isUsable(services);
    expect(started.sort()).toEqual([name, "fast"].sort());
  });

  it("is told to the model where the policy says so, and tried again as any error", async () => {
    const policy: Policy = {
      timeLimits: { tools: { "*": 40 }, onToolLimit: "continue" },
      toolRetry: [{ tools: ["slow"], maxRetries: 1, initialDelayMs: 1 }],
    };
    const { outcome, services } = await run(policy, ["slow", "fast"]);
    expect(outcome).toMatchObject({ kind: "completed", output: "after" });
    expect(started).toEqual(["slow", "fast", "slow"]);
    expect(stopped).toEqual(["slow", "slow"]);
    const [slow, fast] = (await messagesOf(services)).slice(2).map(({ text }) => text);
    expect([slow, fast]).toEqual([expect.stringContaining("took longer than 40 ms"), "fast is done"]);
  });

  it("and is marked once ends the run whatever the policy says: its outcome is not known", async () => {
    const policy: Policy = { once: ["pay"], timeLimits: { tools: { pay: 40 }, onToolLimit: "continue" } };
    const { outcome, services } = await run(policy, ["pay"]);
    expect(outcome).toMatchObject({ kind: "timed_out", error: { code: "TOOL_TIMEOUT" } });
    expect([services.effects.started.size, services.effects.done.size]).toEqual([1, 0]);
  });
});

describe("a step that takes too long", () => {
  it("ends the run: tools", async () => {
    const { outcome, model, services } = await run({ timeLimits: { stepMs: 200 } }, ["slow", "fast"]);
    expect(outcome).toMatchObject({ kind: "timed_out", error: { code: "STEP_TIMEOUT" } });
    expect(stopped).toContain("slow");
    expect(model.callCount).toBe(1);
    await isUsable(services);
  });

  it("each step has its own time, and what a checkpoint takes is not counted", async () => {
    const services = servicesInMemory();
    const { checkpointer } = services;
    const put = checkpointer.put.bind(checkpointer);
    checkpointer.put = async (...args) => {
      await sleep(250);
      return put(...args);
    };
    const { outcome } = await run({ timeLimits: { stepMs: 240 } }, ["fast"], services);
    expect(outcome).toMatchObject({ kind: "completed", output: "after" });
  });
});

it("a run that takes too long ends, and nothing more is called; its thread can be used", async () => {
  const { outcome, model, services } = await run({ timeLimits: { runMs: 150 } }, ["slow", "fast"]);
  expect(outcome).toMatchObject({ kind: "timed_out", error: { code: "RUN_TIMEOUT" } });
  expect([stopped.includes("slow"), model.callCount]).toEqual([true, 1]);
  await isUsable(services);
});

it("no limit is no limit, and a name of no tool is refused", async () => {
  await expect(run({ timeLimits: { tools: { fly: 5 } } }, [])).rejects.toMatchObject({
    code: "INVALID_POLICY",
  });
  expect((await run({}, ["fast"])).outcome.kind).toBe("completed");
});
