import { DroverError } from "@drover/contracts";
import { AIMessage, type BaseMessage, isToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { interrupt } from "@langchain/langgraph";
import { type AgentMiddleware, createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory, type TestServices } from "../fixture/in-memory.js";
import { withReconcile } from "./once.js";
import type { Policy } from "./policy.js";

const call = (name: string, args: Record<string, unknown> = {}, id = name) => ({ name, args, id });
const asking = (...turns: ReturnType<typeof call>[][]) => {
  const model = fakeModel();
  for (const calls of turns) model.respondWithTools(calls);
  return model.respond(new AIMessage("done"));
};
const named = (name: string, run: (args: { n?: number | undefined }) => unknown) =>
  tool(async (args) => run(args) as string, {
    name,
    description: name,
    schema: z.object({ n: z.number().optional() }),
  });
const ok = (name: string) => named(name, () => "ok");

/** The answers to tool calls, as the model of the next turn sees them. */
async function answersOf(services: TestServices): Promise<[string, string][]> {
  const tuple = await services.checkpointer.getTuple({ configurable: { thread_id: "thread-1" } });
  const messages = (tuple?.checkpoint.channel_values.messages ?? []) as BaseMessage[];
  return messages.filter(isToolMessage).map((message) => [message.name ?? "", message.text]);
}

async function run(
  model: ReturnType<typeof fakeModel>,
  tools: ReturnType<typeof ok>[],
  policy: Policy = {},
  middleware: AgentMiddleware[] = [],
) {
  const services = servicesInMemory();
  const agent = await agentOf({ model, tools, policy, middleware });
  const outcome = await execute(agent, activationOf(), services);
  return { outcome, services, answers: await answersOf(services), agent };
}

describe("a tool call that fails", () => {
  it("is a line of the log, also where its run succeeds, without what it said and was asked", async () => {
    const lines: unknown[] = [];
    const silent = () => undefined;
    const warn = (...line: unknown[]) => void lines.push(line);
    const services = servicesInMemory({
      logger: { debug: silent, info: silent, error: silent, warn },
    });
    const broken = named("a", () => {
      throw new TypeError("of ada@example.com");
    });
    const policy: Policy = { toolErrors: { default: "message" } };
    const agent = await agentOf({ model: asking([call("a", { n: 4711 })]), tools: [broken], policy });
    expect(await execute(agent, activationOf(), services)).toMatchObject({ kind: "completed" });
    const line = { tool: "a", code: "TOOL_ERROR", errorClass: "TypeError", tries: 1 };
    expect(lines).toEqual([[line, "A tool call failed"]]);
  });
});

describe("limits of tool calls", () => {
  it("continue: the model is told and answers, also when every call is blocked", async () => {
    const model = asking([call("a", {}, "1")], [call("a", {}, "2"), call("a", {}, "3")]);
    const { outcome, answers } = await run(model, [ok("a")], { toolCalls: [{ tool: "a", run: 1 }] });
    expect(outcome).toMatchObject({ kind: "completed", output: "done", endedBy: "completed" });
    const text = "Tool call limit exceeded: this run may call 'a' 1 times. Do not call 'a' again.";
    expect(answers).toEqual([
      ["a", "ok"],
      ["a", text],
      ["a", text],
    ]);
  });

  it("end: every call has its answer, other tools run, and no model is asked again", async () => {
    const model = asking([call("a", {}, "1"), call("a", {}, "2"), call("b", {}, "3")]);
    const { outcome, answers } = await run(model, [ok("a"), ok("b")], {
      toolCalls: [{ tool: "a", run: 1, onLimit: "end" }],
    });
    expect(outcome).toMatchObject({ kind: "completed", endedBy: "tool_call_limit" });
    expect(answers.map(([name, text]) => [name, text.slice(0, 9)])).toEqual([
      ["a", "ok"],
      ["a", "Tool call"],
      ["b", "ok"],
    ]);
    expect(model.callCount).toBe(1);
  });

  it("error: fails by name", async () => {
    const { outcome } = await run(asking([call("a", {}, "1"), call("b", {}, "2")]), [ok("a"), ok("b")], {
      toolCalls: [{ run: 1, onLimit: "error" }],
    });
    expect(outcome).toMatchObject({
      kind: "failed",
      endedBy: "tool_call_limit",
      error: { code: "TOOL_CALL_LIMIT", message: expect.stringContaining("policy.toolCalls") },
    });
  });

  it("counts tries, patterns and all tools, of the thread too", async () => {
    let failures = 1;
    const flaky = named("get_a", () => {
      if (failures-- > 0) throw new Error("flaky");
      return "ok";
    });
    const { services } = await run(asking([call("get_a"), call("put_b")]), [flaky, ok("put_b")], {
      toolCalls: [{ thread: 9 }, { tool: "get_*", run: 9 }],
      toolRetry: [{ initialDelayMs: 1 }],
    });
    expect(Object.fromEntries(services.counters.taken)).toEqual({ "thread tools": 3, "run tool:get_*": 2 });
  });
});

describe("errors of tools", () => {
  it("are answers to the model, with a middleware around tools too, and without a stack", async () => {
    const probe = createMiddleware({
      name: "probe",
      wrapToolCall: (request, handler) => handler(request),
    }) as AgentMiddleware;
    const throws = named("a", () => {
      throw new TypeError("boom");
    });
    const model = asking([call("a", {}, "1")], [call("a", { n: "x" }, "2")]);
    const { outcome, answers } = await run(model, [throws], {}, [probe]);
    expect(outcome).toMatchObject({ kind: "completed", output: "done" });
    expect(answers[0]?.[1]).toBe("TypeError: boom\n Please fix your mistakes.");
    expect(answers[1]?.[1]).toMatch(/^Error invoking tool 'a': .*schema/s);
    expect(answers[1]?.[1]).not.toMatch(/\n\s+at /);
  });

  it("fail the run where the policy says so, by tool or by class", async () => {
    const a = named("a", () => {
      throw new TypeError("a bug");
    });
    const b = named("b", () => {
      throw new RangeError("bad input");
    });
    const toolErrors: Policy["toolErrors"] = {
      onError: (error) => (error instanceof RangeError ? "try a smaller one" : undefined),
    };
    const told = await run(asking([call("b")]), [a, b], { toolErrors });
    expect(told.answers).toEqual([["b", "try a smaller one"]]);
    const failed = { kind: "failed", error: { code: "TOOL_ERROR", message: "The tool 'a' threw: a bug" } };
    expect((await run(asking([call("a")]), [a, b], { toolErrors })).outcome).toMatchObject(failed);
    const byName = await run(asking([call("a")]), [a, b], { toolErrors: { tools: { a: "fail" } } });
    expect(byName.outcome).toMatchObject(failed);
  });

  it("an unknown tool: the model is told which there are; asked for again, the run fails by name", async () => {
    const once = await run(asking([call("x", {}, "1")], [call("a", {}, "2")]), [ok("a")]);
    expect(once.outcome).toMatchObject({ kind: "completed" });
    expect(once.answers[0]).toEqual(["x", "Error: x is not a valid tool, try one of [a]."]);
    const again = await run(asking([call("x", {}, "1")], [call("x", {}, "2")]), [ok("a")]);
    expect(again.outcome).toMatchObject({ kind: "failed", error: { code: "UNKNOWN_TOOL" } });
  });
});

describe("retries of tools", () => {
  const retry = { initialDelayMs: 1, maxDelayMs: 2 };
  const failing = (times: number, error: () => Error) => {
    const made = { count: 0 };
    const a = named("a", () => {
      made.count += 1;
      if (made.count <= times) throw error();
      return "ok";
    });
    return { a, made };
  };

  it("until it works, or the model is told; what the other side refused is not tried again", async () => {
    const works = failing(2, () => new Error("flaky"));
    const model = () => asking([call("a")]);
    const policy = { toolRetry: [{ tools: ["a"], ...retry }] };
    expect((await run(model(), [works.a], policy)).answers).toEqual([["a", "ok"]]);
    const never = failing(9, () => new Error("flaky"));
    expect((await run(model(), [never.a], policy)).answers).toEqual([
      ["a", "Tool 'a' failed after 3 attempts: flaky"],
    ]);
    const refused = failing(9, () => Object.assign(new Error("no"), { status: 404 }));
    await run(model(), [refused.a], policy);
    expect(refused.made.count).toBe(1);
  });

  it("onFailure error fails the run, retryOn sees the true cause", async () => {
    const { a, made } = failing(9, () => new RangeError("flaky"));
    const toolRetry = [
      { ...retry, onFailure: "error" as const, retryOn: (e: Error) => e instanceof RangeError },
    ];
    const { outcome } = await run(asking([call("a")]), [a], { toolRetry });
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "TOOL_ERROR" } });
    expect(made.count).toBe(3);
  });

  it("an interrupt inside of a tool passes through: one question, one start each time", async () => {
    let started = 0;
    const a = named("a", () => {
      started += 1;
      return interrupt("sure?");
    });
    const services = servicesInMemory();
    const agent = await agentOf({ model: asking([call("a")]), tools: [a], policy: { toolRetry: [retry] } });
    const asked = await execute(agent, activationOf(), services);
    if (asked.kind !== "interrupted") throw new Error(asked.kind);
    expect([asked.questions.length, started]).toEqual([1, 1]);
    const values = { [asked.questions[0]?.interruptId ?? ""]: "yes" };
    const resume = { values, checkpointId: asked.checkpointId };
    await execute(agent, activationOf({ kind: "resume", seq: 2, resume }), services);
    expect(await answersOf(services)).toEqual([["a", "yes"]]);
    expect(started).toBe(2);
  });

  it("a tool that is slow to stop is left alone after a cancel, and what it throws later harms nobody", async () => {
    const services = servicesInMemory();
    const a = named("a", async () => {
      services.stop.abort(new DroverError("CANCELLED", "by me"));
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw new Error("late");
    });
    const model = asking([call("a")]);
    const agent = await agentOf({ model, tools: [a], policy: { toolRetry: [retry] } });
    expect(await execute(agent, activationOf(), services)).toMatchObject({ kind: "cancelled" });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(model.callCount).toBe(1);
  });
});

describe("tools marked once", () => {
  const policy: Policy = { once: ["post"], toolCalls: [{ tool: "post", run: 1 }] };

  /** A run whose worker died while the tool ran, or after it: the next one finds what the ledger says. */
  async function crashed(post: ReturnType<typeof ok>, ledger: (services: TestServices, id: string) => void) {
    const services = servicesInMemory();
    const agent = await agentOf({ model: asking([call("post")]), tools: [post], policy });
    let die = true;
    services.checkpointer.putWrites = new Proxy(services.checkpointer.putWrites, {
      apply(target, self, args) {
        const fromTool = JSON.stringify(args[1]).includes("tool_call_id");
        if (die && fromTool) throw new DroverError("LEASE_LOST", "died");
        return Reflect.apply(target, self, args);
      },
    });
    expect(await execute(agent, activationOf(), services)).toEqual({ kind: "superseded" });
    die = false;
    const [id = ""] = services.effects.started;
    ledger(services, id);
    const outcome = await execute(agent, activationOf({ kind: "takeover", seq: 2 }), services);
    return { outcome, services, answers: await answersOf(services) };
  }

  it("a committed result is replayed, and takes no second unit of a limit", async () => {
    let posted = 0;
    const post = named("post", () => `posted ${++posted}`);
    const { outcome, answers, services } = await crashed(post, () => undefined);
    expect(outcome).toMatchObject({ kind: "completed" });
    expect(answers).toEqual([["post", "posted 1"]]);
    expect(posted).toBe(1);
    expect(services.counters.taken.get("run tool:post")).toBe(1);
  });

  it("an unknown outcome ends the run by name", async () => {
    let posted = 0;
    const post = named("post", () => `posted ${++posted}`);
    const { outcome } = await crashed(post, (services, id) => services.effects.done.delete(id));
    expect(outcome).toMatchObject({ kind: "failed", retryable: false, error: { code: "EFFECT_UNKNOWN" } });
    expect(posted).toBe(1);
  });

  it.each([
    ["done", { outcome: "done", result: "found it" } as const, [["post", "found it"]], 1],
    ["not_done", { outcome: "not_done" } as const, [["post", expect.stringMatching(/posted 2|limit/)]], 2],
  ])("a tool's hook can say that it is %s", async (_, found, expected, times) => {
    let posted = 0;
    const post = withReconcile(
      named("post", () => `posted ${++posted}`),
      () => found,
    );
    const limitless = await crashed(post, (services, id) => {
      services.effects.done.delete(id);
      services.counters.taken.clear();
    });
    expect(limitless.outcome).toMatchObject({ kind: "completed" });
    expect(limitless.answers).toEqual(expected);
    expect(posted).toBe(times);
  });

  it("a tool that throws has answered; wrong arguments never started it", async () => {
    const post = named("post", () => {
      throw new Error("refused");
    });
    const services = servicesInMemory();
    const model = asking([call("post", { n: "x" }, "1")], [call("post", {}, "2")]);
    const agent = await agentOf({ model, tools: [post], policy: { once: ["post"] } });
    await execute(agent, activationOf(), services);
    expect([...services.effects.done.values()]).toEqual([{ content: "Error: refused", status: "error" }]);
    expect(services.effects.started.size).toBe(1);
  });
});
