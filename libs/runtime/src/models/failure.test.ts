import { DroverError } from "@drover/contracts";
import { AIMessage } from "@langchain/core/messages";
import { createAgent, createMiddleware } from "langchain";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { collect } from "../testing/collect.js";
import { type ProviderReply, type ProviderServer, startProviderServer } from "../testing/index.js";
import { assertUsable, endReason } from "./answer.js";
import { classifyModelError, type ModelFailure } from "./failure.js";
import type { ModelOptions } from "./options.js";
import { resolveModel } from "./resolve.js";

const SPECS = ["openai:gpt-4o", "openai:gpt-5-codex", "anthropic:claude-sonnet-4-5"];
const SECRET = "the patient's name is Wu";

/** Spied on before the first client is made: the clients hold on to the console's functions. */
const logged: string[] = [];
let server: ProviderServer;
beforeAll(async () => {
  for (const level of ["error", "warn", "info", "log"] as const) {
    vi.spyOn(console, level).mockImplementation((...args) => void logged.push(JSON.stringify(args)));
  }
  server = await startProviderServer({ script: [] });
});
afterAll(() => {
  vi.restoreAllMocks();
  return server.close();
});

/** One answer of the real client, whole or put together from its stream. */
async function ask(spec: string, streamed: boolean, options: ModelOptions = {}): Promise<AIMessage> {
  const model = await resolveModel(spec, options, server.env);
  if (!streamed) return model.invoke(SECRET);
  const [first, ...rest] = await collect(await model.stream(SECRET));
  return rest.reduce((whole, chunk) => whole?.concat(chunk), first) ?? new AIMessage("");
}

async function failureOf(call: Promise<unknown>): Promise<ModelFailure> {
  try {
    await call;
  } catch (error) {
    return classifyModelError(error);
  }
  throw new Error("the call did not fail");
}

describe.each(SPECS)("%s", (spec) => {
  describe.each([false, true])("streamed: %s", (streamed) => {
    const fails = async (reply: ProviderReply, options: ModelOptions = {}) => {
      server.use([
        { errorMessage: `about "${SECRET}" with ${server.env.OPENAI_API_KEY}`, text: SECRET, ...reply },
      ]);
      const failure = await failureOf(ask(spec, streamed, options).then(assertUsable));
      expect(failure.message).not.toContain(SECRET);
      expect(failure.message).not.toContain(SECRET.slice(0, 8));
      expect(failure.message).not.toContain(server.env.OPENAI_API_KEY);
      return failure;
    };

    it.each([
      [429, "MODEL_RATE_LIMITED", true],
      [401, "MODEL_AUTH", false],
      [403, "MODEL_AUTH", false],
      [400, "MODEL_ERROR", false],
      [404, "MODEL_ERROR", false],
      [422, "MODEL_ERROR", false],
      [408, "MODEL_TIMEOUT", true],
      [409, "MODEL_ERROR", true],
      [413, "MODEL_ERROR", false],
      [500, "MODEL_ERROR", true],
      [503, "MODEL_ERROR", true],
      [504, "MODEL_TIMEOUT", true],
      [529, "MODEL_ERROR", true],
    ])("status %i is %s, retryable: %s", async (status, code, retryable) => {
      expect(await fails({ status })).toMatchObject({ status, code, retryable });
    });

    it("takes Retry-After in seconds and as a date", async () => {
      expect((await fails({ status: 429, retryAfter: 3 })).retryAfterMs).toBe(3000);
      expect((await fails({ status: 503, retryAfter: "0.5" })).retryAfterMs).toBe(500);
      const date = new Date(Date.now() + 60_000).toUTCString();
      const ms = (await fails({ status: 429, retryAfter: date })).retryAfterMs;
      expect(ms).toBeGreaterThan(50_000);
      expect(ms).toBeLessThanOrEqual(60_000);
      expect((await fails({ status: 429, headers: { "retry-after-ms": "1250" } })).retryAfterMs).toBe(1250);
    });

    it("believes the provider about retrying", async () => {
      expect((await fails({ status: 500, headers: { "x-should-retry": "false" } })).retryable).toBe(false);
      expect((await fails({ status: 400, headers: { "x-should-retry": "true" } })).retryable).toBe(true);
    });

    it("does not wait for a quota that is used up", async () => {
      const failure = await fails({ status: 429, errorType: "insufficient_quota", retryAfter: 5 });
      expect(failure).toMatchObject({ code: "MODEL_RATE_LIMITED", retryable: false });
      expect(failure).not.toHaveProperty("retryAfterMs");
      expect(failure.message).toMatch(/quota .* add credit/);
    });

    it("names a context overflow", async () => {
      const errorMessage = `prompt is too long, maximum context length: ${SECRET}`;
      const failure = await fails({ status: 400, errorMessage });
      expect(failure).toMatchObject({ code: "MODEL_ERROR", retryable: false });
      expect(failure.message).toMatch(/longer than the model can take/);
    });

    it("gives up a connection that hangs", async () => {
      const started = Date.now();
      expect(await fails({ hang: true }, { timeout: 200 })).toMatchObject({
        code: "MODEL_TIMEOUT",
        retryable: true,
      });
      expect(Date.now() - started).toBeLessThan(2000);
    });

    it("gives up an answer that stops in the middle", async () => {
      const reply: ProviderReply = { breakStreamAfter: 2, breakWith: "hang" };
      expect(await fails(reply, { timeout: 200 })).toMatchObject({ code: "MODEL_TIMEOUT", retryable: true });
    });

    it("lets an answer that keeps coming take longer than the timeout", async () => {
      server.use([{ text: "one two three four five", eventDelayMs: 60, delayMs: 60 }]);
      expect((await ask(spec, streamed, { timeout: 200 })).text).toBe("one two three four five");
    });

    it("calls a torn connection retryable", async () => {
      const failure = await fails({ breakStreamAfter: 3 });
      expect(failure).toMatchObject({ code: "MODEL_ERROR", retryable: true });
      expect(failure.message).toMatch(/connection .* failed \(UND_ERR_SOCKET\)/);
    });

    it("does not take half an answer for a whole one", async () => {
      const failure = await fails({ breakStreamAfter: 3, breakWith: "end" });
      expect(failure).toMatchObject({ code: "MODEL_BAD_RESPONSE", retryable: true });
    });

    it.each([
      ["malformed JSON", { malformed: true }],
      ["a page instead of JSON", { body: `<html>${SECRET}</html>` }],
      ["an empty object", { body: {} }],
      ["an answer without choices", { body: { choices: [], content: [], output: [] } }],
      ["an empty answer", { text: "" }],
      ["only white space", { text: " \n" }],
      ["arguments that are no JSON", { toolCalls: [{ name: "pay", args: '{"amount": 1' }] }],
    ])("calls %s a bad response, and logs none of it", async (_what, reply: ProviderReply) => {
      expect(await fails(reply)).toMatchObject({ code: "MODEL_BAD_RESPONSE", retryable: true });
      expect(logged.join()).not.toContain(SECRET.slice(0, 8));
    });

    it.each([
      ["length", "truncated"],
      ["content_filter", spec.startsWith("anthropic") ? "refused" : "content_filter"],
      ["refusal", "refused"],
      [undefined, "completed"],
    ] as const)("reads the finish reason %s as %s", async (finishReason, ended) => {
      server.use([{ text: "I can", ...(finishReason === undefined ? {} : { finishReason }) }]);
      const message = await ask(spec, streamed);
      expect(endReason(message)).toBe(ended);
      expect(() => assertUsable(message)).not.toThrow();
    });

    it("takes tool calls without text for an answer", async () => {
      server.use([
        {
          toolCalls: [
            { name: "pay", args: {} },
            { name: "pay", args: { amount: 1 } },
          ],
        },
      ]);
      const message = await ask(spec, streamed);
      expect(endReason(message)).toBe("completed");
      expect(() => assertUsable(message)).not.toThrow();
    });

    it("calls an abort no failure to retry", async () => {
      server.use([{ hang: true }]);
      const model = await resolveModel(spec, {}, server.env);
      const abort = new AbortController();
      const { signal } = abort;
      const seen = server.requests.length + 1;
      const call = streamed ? model.stream("x", { signal }).then(collect) : model.invoke("x", { signal });
      await server.received(seen);
      abort.abort();
      expect(await failureOf(call)).toMatchObject({ code: "CANCELLED", retryable: false });
    });

    it("finds the cause under what middleware wraps around it", async () => {
      server.use([{ status: 429, retryAfter: 2 }]);
      const wrap = (name: string) =>
        createMiddleware({ name, wrapModelCall: (request, handler) => handler(request) });
      const model = await resolveModel(spec, {}, server.env);
      const agent = createAgent({ model, tools: [], middleware: [wrap("outer"), wrap("inner")] });
      const messages = [{ role: "user", content: "x" }];
      const call = streamed
        ? agent.stream({ messages }, { streamMode: "messages" }).then(collect)
        : agent.invoke({ messages });
      expect(await failureOf(call)).toMatchObject({
        code: "MODEL_RATE_LIMITED",
        status: 429,
        retryable: true,
        retryAfterMs: 2000,
      });
    });
  });

  it.each([
    ["overloaded_error", "MODEL_ERROR", true],
    ["rate_limit_error", "MODEL_RATE_LIMITED", true],
    ["authentication_error", "MODEL_AUTH", false],
    ["something new", "MODEL_ERROR", true],
  ])("reads the error %s in the middle of a stream", async (errorType, code, retryable) => {
    server.use([{ text: SECRET, breakStreamAfter: 2, breakWith: "error", errorType, errorMessage: SECRET }]);
    const failure = await failureOf(ask(spec, true));
    expect(failure).toMatchObject({ code, retryable });
    expect(failure.message).not.toContain(SECRET);
  });

  it("says how a structured answer ended that was cut off", async () => {
    server.use([{ text: '{"total": 1', finishReason: "length" }]);
    const model = await resolveModel(spec, {}, server.env);
    const schema = { title: "receipt", type: "object", properties: { total: { type: "number" } } };
    const options = { response_format: { type: "json_schema", json_schema: { name: "receipt", schema } } };
    const result = await model.invoke(SECRET, options as never).then(endReason, (error: unknown) => {
      return classifyModelError(error).endedBy;
    });
    expect(result).toBe("truncated");
  });

  it("calls a server that is not there a failed connection", async () => {
    const gone = await startProviderServer({ script: [] });
    await gone.close();
    const model = await resolveModel(spec, {}, gone.env);
    const failure = await failureOf(model.invoke("x"));
    expect(failure).toMatchObject({ code: "MODEL_ERROR", retryable: true });
    expect(failure.message).toMatch(/failed \(ECONNREFUSED\): check the base URL/);
  });
});

describe("errors that come from elsewhere", () => {
  it("keeps Drover's own, also under wrappers", () => {
    const own = new DroverError("MODEL_CALL_LIMIT", "The limit of 3 calls was reached.");
    expect(classifyModelError(new Error("wrapped", { cause: own }))).toEqual({
      code: "MODEL_CALL_LIMIT",
      retryable: false,
      message: "The limit of 3 calls was reached.",
    });
  });

  it("keeps the verdict of one that was classified before", () => {
    const before = Object.assign(new DroverError("MODEL_RATE_LIMITED", "Slow down."), {
      retryable: true,
      retryAfterMs: 2000,
    });
    expect(classifyModelError(new Error("wrapped", { cause: before }))).toEqual({
      code: "MODEL_RATE_LIMITED",
      retryable: true,
      retryAfterMs: 2000,
      message: "Slow down.",
    });
  });

  it("does not retry what it does not know, and does not repeat its text", () => {
    for (const error of [
      new Error(SECRET),
      SECRET,
      undefined,
      { message: SECRET, type: SECRET, status: "500" },
    ]) {
      const failure = classifyModelError(error);
      expect(failure).toMatchObject({ code: "MODEL_ERROR", retryable: false });
      expect(failure.message).not.toContain(SECRET);
    }
  });

  it("survives causes that go round in a circle", () => {
    const circle = new Error("a");
    circle.cause = new Error("b", { cause: circle });
    expect(classifyModelError(circle).code).toBe("MODEL_ERROR");
  });
});
