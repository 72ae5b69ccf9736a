import { describe, expect } from "vitest";
import { proofs, type Stage } from "../../testing/features/stage.js";

const { proves } = proofs();
const loop = () => ({ toolCalls: [{ name: "search", args: {} }] });
const busy = { status: 503 };
const counted = (stage: Stage) => stage.requests().length;
/** Milliseconds between the requests. */
const apart = (stage: Stage) => {
  const at = stage.requests().map((request) => request.at);
  return at.slice(1).map((time, i) => time - (at[i] ?? 0));
};
/** The same in steps of 50 that are surely over. */
const waits = (stage: Stage) => apart(stage).map((ms) => Math.floor((ms + 5) / 50) * 50);

describe("modelCallLimitMiddleware", () => {
  proves("runLimit, exitBehavior: end", async (stage) => {
    const run = await stage.run("model_run_limit", { script: [loop(), loop(), { text: "never" }] });
    expect(run).toMatchObject({ status: "success", endedBy: "model_call_limit" });
    expect(counted(stage)).toBe(2);
  });
  proves("threadLimit", async (stage) => {
    const script = () => ({ text: "fine" });
    for (let i = 0; i < 3; i += 1) await stage.run("model_thread_limit", { script, thread: "t" });
    const run = await stage.run("model_thread_limit", { thread: "t" });
    expect(run.endedBy).toBe("model_call_limit");
    expect(counted(stage)).toBe(3);
  });
  proves("exitBehavior: error", async (stage) => {
    const run = await stage.run("model_limit_error", { script: [loop(), { text: "never" }] });
    expect(run).toMatchObject({ status: "error", error: { code: "MODEL_CALL_LIMIT" } });
    expect(counted(stage)).toBe(1);
  });
});

describe("modelFallbackMiddleware", () => {
  proves("models, in order", async (stage) => {
    const run = await stage.run("fallback", { script: [busy, busy, { text: "third" }] });
    expect(run).toMatchObject({ status: "success", output: "third" });
    expect(stage.requests().map(({ model }) => model)).toEqual([
      "gpt-4o-mini",
      "claude-haiku-4-5",
      "gpt-4.1",
    ]);
  });
  proves("each model has its retries; when all have failed, the last error ends the run", async (stage) => {
    const script = ({ api }: { api: string }) => ({ status: api === "anthropic-messages" ? 529 : 503 });
    const run = await stage.run("fallback_retries", { script });
    expect(run).toMatchObject({
      status: "error",
      error: { code: "MODEL_ERROR", message: expect.stringContaining("529") },
    });
    const [first, second] = ["gpt-4o-mini", "claude-haiku-4-5"];
    expect(stage.requests().map(({ model }) => model)).toEqual([first, first, second, second]);
  });
});

describe("modelRetryMiddleware", () => {
  proves("a streamed try that failed is told from the next by its message's id", async (stage) => {
    const cutOff = { text: "Hello world", breakStreamAfter: 2 };
    const run = await stage.run("model_retries", {
      script: [cutOff, { text: "Hello world" }],
      streamMode: ["messages"],
    });
    const said = new Map<string, string>();
    for (const event of (await stage.events(run)) as { type: string; messageId: string; text: string }[]) {
      if (event.type !== "messages") continue;
      said.set(event.messageId, (said.get(event.messageId) ?? "") + event.text);
    }
    expect([...said.values()]).toEqual(["Hello wo", "Hello world"]);
  });
  proves("maxRetries", async (stage) => {
    const run = await stage.run("model_retries", { script: [busy, busy, busy, busy, { text: "fifth" }] });
    expect(run.output).toBe("fifth");
  });
  proves("retryOn: a function", async (stage) => {
    expect((await stage.run("model_retry_on", { script: [{ status: 400 }, { text: "again" }] })).output).toBe(
      "again",
    );
  });
  proves("retryOn: error classes", async (stage) => {
    expect(
      (await stage.run("model_retry_classes", { script: [{ status: 400 }, { text: "again" }] })).output,
    ).toBe("again");
  });
  proves("initialDelayMs, backoffFactor, maxDelayMs, jitter: false", async (stage) => {
    await stage.run("model_backoff", { script: [busy, busy, busy, { text: "done" }] });
    expect(waits(stage)).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = waits(stage);
    expect(first).toBeGreaterThanOrEqual(100);
    expect(second).toBeGreaterThanOrEqual(300);
    expect(third).toBeGreaterThanOrEqual(400);
    expect(third).toBeLessThan(900);
  });
  proves("backoffFactor: 0 waits equally long", async (stage) => {
    await stage.run("model_constant", { script: [busy, busy, busy, { text: "done" }] });
    expect(waits(stage)).toHaveLength(3);
    expect(Math.min(...waits(stage))).toBeGreaterThanOrEqual(150);
    // With the default factor of 2 the third would be 600.
    expect(Math.max(...waits(stage))).toBeLessThan(600);
  });
  proves("jitter: true", async (stage) => {
    // 300 ms without it: until a wait was shorter, and a slow machine makes none shorter.
    const isShort = () => Math.min(...apart(stage)) < 298;
    const run = await stage.run("model_jitter", { script: () => (isShort() ? { text: "done" } : busy) });
    expect(run.output).toBe("done");
    expect(Math.min(...apart(stage))).toBeGreaterThanOrEqual(223);
  });
  proves("onFailure: continue", async (stage) => {
    const run = await stage.run("model_continue", { script: () => ({ status: 400 }) });
    expect(run).toMatchObject({
      status: "success",
      endedBy: "error",
      output: expect.stringMatching(/could not be reached/),
    });
  });
  proves("onFailure: a function", async (stage) => {
    const run = await stage.run("model_on_failure", { script: () => ({ status: 400 }) });
    expect(run).toMatchObject({ status: "success", output: "sorry: 400" });
  });
  proves("onFailure: error", async (stage) => {
    const run = await stage.run("model_error", { script: () => busy });
    expect(run).toMatchObject({ status: "error", error: { code: "MODEL_ERROR" } });
    expect(counted(stage)).toBe(2);
  });
});
