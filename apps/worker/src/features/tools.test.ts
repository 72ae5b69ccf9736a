import { describe, expect } from "vitest";
import { proofs, type Stage } from "../../testing/features/stage.js";

const { proves } = proofs();
const call = (name: string, args: object = {}) => ({ name, args });
const turn = (...toolCalls: ReturnType<typeof call>[]) => ({ toolCalls });
const done = { text: "done" };
const made = (stage: Stage) => stage.effects().filter((effect) => "tool" in effect);
const failing = (n: number, fail = "Busy", name = "search") => [turn(call(name, { n, fail })), done];
/** What the model was told by tools, in its last request. */
const told = (stage: Stage) =>
  stage
    .requests()
    .at(-1)
    ?.messages.filter(({ role }) => role === "tool")
    .map(({ text }) => text) ?? [];
/** Milliseconds between the executions of tools, from one of them on. */
const apart = (stage: Stage, first = 0) => {
  const at = made(stage)
    .slice(first)
    .map((effect) => Number(effect.at));
  return at.slice(1).map((time, i) => time - (at[i] ?? 0));
};

describe("toolCallLimitMiddleware", () => {
  proves("runLimit, exitBehavior: continue", async (stage) => {
    const run = await stage.run("tool_run_limit", {
      script: [turn(call("search"), call("pay"), call("search")), done],
    });
    expect(run).toMatchObject({ status: "success", output: "done", endedBy: "completed" });
    expect(made(stage)).toHaveLength(2);
    expect(told(stage).filter((text) => text.startsWith("Tool call limit exceeded"))).toHaveLength(1);
  });
  proves("threadLimit", async (stage) => {
    for (let i = 0; i < 3; i += 1) {
      const run = await stage.run("tool_thread_limit", { script: [turn(call("search")), done], thread: "t" });
      // Also where its every call was blocked, the model gets to answer.
      expect(run).toMatchObject({ output: "done", endedBy: "completed" });
    }
    expect(made(stage)).toHaveLength(2);
  });
  proves("toolName", async (stage) => {
    await stage.run("tool_name_limit", {
      script: [turn(call("search"), call("pay"), call("search"), call("pay")), done],
    });
    expect(
      made(stage)
        .map(({ tool }) => tool)
        .sort(),
    ).toEqual(["pay", "pay", "search"]);
  });
  proves("exitBehavior: end", async (stage) => {
    const run = await stage.run("tool_limit_end", {
      script: [turn(call("search"), call("search"), call("pay")), done],
      thread: "t",
    });
    expect(run).toMatchObject({ status: "success", endedBy: "tool_call_limit" });
    expect(stage.requests()).toHaveLength(1);
    // Every call has its answer: the next run of the thread has a valid history.
    await stage.run("tool_limit_end", { script: [done], thread: "t" });
    expect(told(stage)).toEqual([
      expect.stringMatching(/^search says/),
      expect.stringMatching(/^Tool call limit exceeded/),
      expect.stringMatching(/^pay says/),
    ]);
  });
  proves("exitBehavior: error", async (stage) => {
    const run = await stage.run("tool_limit_error", {
      script: [turn(call("search"), call("pay")), done],
      thread: "t",
    });
    expect(run).toMatchObject({ status: "error", error: { code: "TOOL_CALL_LIMIT" } });
    expect(made(stage)).toHaveLength(1);
    // No call is left without an answer: the next run of the thread has a valid history.
    await stage.run("tool_limit_error", { script: [done], thread: "t" });
    expect(told(stage)).toHaveLength(2);
  });
});

describe("toolRetryMiddleware", () => {
  proves("maxRetries", async (stage) => {
    await stage.run("tool_retries", { script: failing(4) });
    expect(made(stage)).toHaveLength(5);
    expect(told(stage)[0]).toMatch(/^search says/);
  });
  proves("tools", async (stage) => {
    await stage.run("tool_retry_tools", {
      script: [turn(call("search", { n: 1, fail: "Busy" }), call("pay", { n: 1, fail: "Busy" })), done],
    });
    expect(
      made(stage)
        .map(({ tool }) => tool)
        .sort(),
    ).toEqual(["pay", "search", "search"]);
  });
  for (const [how, agent] of [
    ["a function", "tool_retry_on"],
    ["error classes", "tool_retry_classes"],
  ] as const) {
    proves(`retryOn: ${how}`, async (stage) => {
      await stage.run(agent, { script: failing(1) });
      await stage.run(agent, { script: failing(1, "Other") });
      expect(made(stage)).toHaveLength(3);
    });
  }
  proves("initialDelayMs, backoffFactor, maxDelayMs", async (stage) => {
    await stage.run("tool_backoff", { script: failing(3) });
    const [first = 0, second = 0, third = 0] = apart(stage);
    expect(first).toBeGreaterThanOrEqual(98);
    expect(second).toBeGreaterThanOrEqual(298);
    expect(third).toBeGreaterThanOrEqual(398);
    expect(third).toBeLessThan(899);
  });
  proves("backoffFactor: 0", async (stage) => {
    await stage.run("tool_constant", { script: failing(3) });
    expect(apart(stage)).toHaveLength(3);
    expect(Math.min(...apart(stage))).toBeGreaterThanOrEqual(148);
    // With the default factor of 2 the third would be 600.
    expect(Math.max(...apart(stage))).toBeLessThan(600);
  });
  proves("jitter", async (stage) => {
    // 200 ms without it: until a wait was shorter, and a slow machine makes none shorter.
    const waits: number[] = [];
    while (waits.length < 30 && !waits.some((ms) => ms < 198)) {
      const before = made(stage).length;
      await stage.run("tool_jitter", { script: failing(3) });
      expect(told(stage)).toEqual([expect.stringMatching(/^search says/)]);
      waits.push(...apart(stage, before));
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(148);
    expect(Math.min(...waits)).toBeLessThan(198);
  });
  for (const [value, agent] of [
    ["continue", "tool_continue"],
    ["return_message", "tool_return_message"],
  ] as const) {
    proves(`onFailure: ${value}`, async (stage) => {
      const run = await stage.run(agent, { script: failing(9) });
      expect(run.output).toBe("done");
      expect(told(stage)).toEqual(["Tool 'search' failed after 3 attempts: Busy for the test"]);
      if (value !== "continue") expect(stage.warnings("start")).toContain(`onFailure '${value}' is now`);
    });
  }
  for (const [value, agent] of [
    ["error", "tool_retry_error"],
    ["raise", "tool_raise"],
  ] as const) {
    proves(`onFailure: ${value}`, async (stage) => {
      const run = await stage.run(agent, { script: failing(9) });
      expect(run).toMatchObject({ status: "error", error: { code: "TOOL_ERROR" } });
      expect(made(stage)).toHaveLength(3);
      if (value !== "error") expect(stage.warnings("start")).toContain(`onFailure '${value}' is now`);
    });
  }
  proves("onFailure: a function", async (stage) => {
    await stage.run("tool_on_failure", { script: failing(9) });
    expect(told(stage)).toEqual(["sorry: Busy for the test"]);
  });
});

describe("toolErrorMiddleware", () => {
  proves("onError", async (stage) => {
    await stage.run("tool_errors", { script: failing(1) });
    expect(told(stage)).toEqual(["try later"]);
    expect(await stage.run("tool_errors", { script: failing(1, "Bug") })).toMatchObject({
      error: { code: "TOOL_ERROR" },
    });
  });
  proves("tools", async (stage) => {
    expect(await stage.run("tool_errors_by_tool", { script: failing(1, "Busy", "pay") })).toMatchObject({
      output: "done",
    });
    expect(await stage.run("tool_errors_by_tool", { script: failing(1) })).toMatchObject({
      error: { code: "TOOL_ERROR" },
    });
  });
});
