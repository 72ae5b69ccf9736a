import { DroverError, type Redactor } from "@drover/contracts";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { type AgentMiddleware, createMiddleware, tool } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory } from "../fixture/in-memory.js";
import { type ProviderReply, type ProviderServer, startProviderServer } from "../testing/index.js";

/** Over real HTTP: what reaches a provider, in which order, and what becomes of the run. */
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer({ script: [] });
});
afterEach(() => server.close());

const OPENAI = "openai:gpt-4o-mini";
const CLAUDE = "anthropic:claude-haiku-4-5";
const fast = { initialDelayMs: 1, maxDelayMs: 5 };
const asked = () => server.requests.map((request) => request.api.split("-")[0]);
const add = tool(({ a, b }) => String(a + b), {
  name: "add",
  description: "Adds",
  schema: z.object({ a: z.number(), b: z.number() }),
});
/** Another layer that wraps model calls: LangChain puts what is thrown inside of it into an error of its own. */
const wrapper = createMiddleware({
  name: "wrapper",
  wrapModelCall: (request, handler) => handler(request),
}) as AgentMiddleware;
const callAdd = { toolCalls: [{ name: "add", args: { a: 1, b: 2 } }] };

describe("retry and fallback", () => {
  it("each model gets its tries, then the next; the run ends with the last error", async () => {
    server.use((request) => ({ status: request.api === "anthropic-messages" ? 529 : 500 }));
    const agent = await agentOf(
      { model: OPENAI, fallbacks: [CLAUDE], policy: { modelRetry: fast } },
      server.env,
    );
    const outcome = await execute(agent, activationOf(), servicesInMemory());
    expect(asked()).toEqual(["openai", "openai", "openai", "anthropic", "anthropic", "anthropic"]);
    expect(outcome).toMatchObject({
      kind: "failed",
      retryable: true,
      error: { code: "MODEL_ERROR", message: expect.stringContaining("529") },
      usage: { modelCalls: 6 },
    });
  });

  it("the fallback's answer is the run's", async () => {
    server.use([{ status: 500 }, { status: 500 }, { status: 500 }, { text: "from the fallback" }]);
    const agent = await agentOf(
      { model: OPENAI, fallbacks: [CLAUDE], policy: { modelRetry: fast } },
      server.env,
    );
    const outcome = await execute(agent, activationOf(), servicesInMemory());
    expect(outcome).toMatchObject({ kind: "completed", output: "from the fallback" });
  });

  const tried = async (reply: ProviderReply) => {
    server.use([reply, { text: "hello" }]);
    const agent = await agentOf(
      { model: OPENAI, middleware: [wrapper], policy: { modelRetry: fast } },
      server.env,
    );
    return execute(agent, activationOf(), servicesInMemory());
  };

  it.each([
    ["400", { status: 400 }],
    ["401", { status: 401 }],
    ["403", { status: 403 }],
    ["a context that is too long", { status: 400, errorType: "context_length_exceeded" }],
  ])("%s is not tried again, and fails the run", async (_, reply) => {
    expect(await tried(reply)).toMatchObject({ kind: "failed", retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["408", { status: 408 }],
    ["409", { status: 409 }],
    ["429", { status: 429 }],
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["a connection that is torn down", { text: "hel", breakStreamAfter: 0 }],
  ])("%s is tried again", async (_, reply) => {
    expect(await tried(reply)).toMatchObject({ output: "hello" });
    expect(server.requests).toHaveLength(2);
  });

  it("retryOn sees the cause inside of what a middleware wrapped it in", async () => {
    server.use([{ status: 401 }, { status: 401 }]);
    const seen: unknown[] = [];
    const agent = await agentOf(
      {
        model: OPENAI,
        middleware: [wrapper],
        policy: {
          modelRetry: {
            ...fast,
            retryOn: (error) => {
              seen.push((error as { status?: unknown }).status);
              return false;
            },
          },
        },
      },
      server.env,
    );
    const outcome = await execute(agent, activationOf(), servicesInMemory());
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "MODEL_AUTH" } });
    expect(seen).toEqual([401]);
  });

  it("waits as long as the provider asks, and leaves longer waits to the run's own retry", async () => {
    server.use([{ status: 429, retryAfter: 1 }, { text: "hello" }]);
    const policy = { modelRetry: { initialDelayMs: 1, maxDelayMs: 2000, jitter: false } };
    const agent = await agentOf({ model: OPENAI, middleware: [wrapper], policy }, server.env);
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({ output: "hello" });
    const [first, second] = server.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    server.use([{ status: 429, retryAfter: 60 }]);
    expect(await execute(agent, activationOf({ runId: "run-2" }), servicesInMemory())).toMatchObject({
      kind: "failed",
      retryable: true,
      retryAfterMs: 60_000,
    });
    expect(server.requests).toHaveLength(3);
  });

  it("after a cancel nothing more is called", async () => {
    server.use(() => ({ status: 500 }));
    const services = servicesInMemory();
    const agent = await agentOf(
      { model: OPENAI, fallbacks: [CLAUDE], policy: { modelRetry: { initialDelayMs: 30, maxDelayMs: 30 } } },
      server.env,
    );
    const running = execute(agent, activationOf(), services);
    await server.received(1);
    services.stop.abort(new DroverError("CANCELLED", "by me"));
    expect(await running).toMatchObject({ kind: "cancelled", reason: "by me" });
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(server.requests).toHaveLength(1);
  });

  it("onFailure: continue answers in the model's place, and the run says that it ended by an error", async () => {
    server.use(() => ({ status: 400 }));
    const policy = { modelRetry: { onFailure: (error: Error) => `sorry: ${error.name.length > 0}` } };
    const agent = await agentOf({ model: OPENAI, policy }, server.env);
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({
      kind: "completed",
      output: "sorry: true",
      endedBy: "error",
    });
  });

  it("arguments that are no JSON and an empty answer are tried again", async () => {
    server.use([{ toolCalls: [{ name: "add", args: '{"a": 1' }] }, { text: "" }, { text: "better" }]);
    const agent = await agentOf({ model: OPENAI, tools: [add], policy: { modelRetry: fast } }, server.env);
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({ output: "better" });
  });
});

describe("the limit of model calls", () => {
  it("counts every request, retries and fallbacks too, and ends the run gracefully", async () => {
    server.use([{ status: 500 }, callAdd, { status: 500 }, callAdd, callAdd]);
    const policy = { modelCalls: { run: 4 }, modelRetry: fast };
    const agent = await agentOf({ model: OPENAI, tools: [add], policy }, server.env);
    const services = servicesInMemory();
    const outcome = await execute(agent, activationOf(), services);
    expect(outcome).toMatchObject({
      kind: "completed",
      endedBy: "model_call_limit",
      output: "The limit of 4 model calls for this run was reached.",
    });
    expect(server.requests).toHaveLength(4);
    expect(services.counters.taken.get("run model")).toBe(4);
  });

  it("fails the run by name where the policy says so", async () => {
    server.use([callAdd, callAdd]);
    const policy = { modelCalls: { thread: 2, onLimit: "error" as const } };
    const agent = await agentOf({ model: OPENAI, tools: [add], policy }, server.env);
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({
      kind: "failed",
      endedBy: "model_call_limit",
      retryable: false,
      error: { code: "MODEL_CALL_LIMIT", message: expect.stringContaining("policy.modelCalls.thread") },
    });
  });

  it("holds with a middleware inside that asks twice", async () => {
    server.use([{ text: "a" }, { text: "b" }, { text: "c" }]);
    const twice = createMiddleware({
      name: "twice",
      wrapModelCall: async (request, handler) => {
        await handler(request);
        return handler(request);
      },
    }) as AgentMiddleware;
    const agent = await agentOf(
      { model: OPENAI, middleware: [twice], policy: { modelCalls: { run: 1 } } },
      server.env,
    );
    const outcome = await execute(agent, activationOf(), servicesInMemory());
    expect(outcome).toMatchObject({ kind: "completed", endedBy: "model_call_limit" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("how an answer ended", () => {
  it.each([
    ["length", "truncated"],
    ["content_filter", "content_filter"],
    ["refusal", "refused"],
  ] as const)("%s", async (finishReason, endedBy) => {
    server.use([{ text: "I", finishReason }]);
    const agent = await agentOf({ model: OPENAI }, server.env);
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({
      kind: "completed",
      endedBy,
    });
  });

  it("does not run the tool calls of an answer that was cut off", async () => {
    server.use([{ text: "I call", ...callAdd, finishReason: "length" }]);
    const agent = await agentOf({ model: OPENAI, tools: [add] }, server.env);
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({
      kind: "completed",
      endedBy: "truncated",
      output: "I call",
      usage: { toolCalls: 0, modelCalls: 1 },
    });
  });
});

describe("structured output", () => {
  const responseFormat = z.object({ total: z.number() });

  it("is asked for again, in the same step, with a valid history, and is told what was wrong", async () => {
    server.use([
      { toolCalls: [{ name: "extract-answer", args: { total: "much" } }] },
      { toolCalls: [{ name: "extract-answer", args: { total: 5 } }] },
    ]);
    const two = ["a", "b"].map(
      (name) => createMiddleware({ name, afterModel: () => undefined }) as AgentMiddleware,
    );
    const agent = await agentOf(
      { model: "openai:some-model", responseFormat, middleware: two, policy: { modelCalls: { run: 2 } } },
      server.env,
    );
    const outcome = await execute(agent, activationOf(), servicesInMemory());
    expect(outcome).toMatchObject({ kind: "completed", output: { total: 5 } });
    expect(server.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(server.requests[1]?.messages.at(-1)?.text).toMatch(/total/);
  });

  it("is asked for again where the model has a format of its own", async () => {
    server.use([{ text: '{"total": "much"}' }, { text: '{"total": 5}' }]);
    const agent = await agentOf({ model: OPENAI, responseFormat }, server.env);
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({ output: { total: 5 } });
    expect(server.requests[0]?.body).toHaveProperty("response_format");
  });

  it("fails by name in the end", async () => {
    server.use(() => ({ text: '{"total": "much"}' }));
    const agent = await agentOf({ model: OPENAI, responseFormat }, server.env);
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({
      kind: "failed",
      error: { code: "STRUCTURED_OUTPUT_INVALID" },
    });
    expect(server.requests).toHaveLength(3);
  });

  it("answers the calls beside the closing one", async () => {
    server.use([
      {
        toolCalls: [
          { name: "add", args: { a: 1, b: 1 }, id: "c1" },
          { name: "extract-answer", args: { total: 5 }, id: "c2" },
        ],
      },
      { text: "next" },
    ]);
    const agent = await agentOf({ model: "openai:some-model", tools: [add], responseFormat }, server.env);
    const services = servicesInMemory();
    expect(await execute(agent, activationOf(), services)).toMatchObject({ output: { total: 5 } });
    await execute(agent, activationOf({ runId: "run-2", input: "and now?" }), services);
    const roles = server.requests[1]?.messages.map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "tool", "tool", "assistant", "user"]);
  });
});

it("a history that a failed run left is made valid before it is sent", async () => {
  server.use([callAdd, { text: "fine" }]);
  const broken = tool(
    () => {
      throw new Error("bug");
    },
    { name: "add", description: "", schema: z.object({}) },
  );
  const services = servicesInMemory();
  const failing = await agentOf(
    { model: OPENAI, tools: [broken], policy: { toolErrors: { default: "fail" } } },
    server.env,
  );
  expect(await execute(failing, activationOf(), services)).toMatchObject({
    kind: "failed",
    error: { code: "TOOL_ERROR", message: "The tool 'add' threw: bug" },
  });
  const next = activationOf({ runId: "run-2", input: "try again" });
  expect(await execute(failing, next, services)).toMatchObject({ kind: "completed", output: "fine" });
  expect(server.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
});

it("the model sees redacted messages, and its answer is redacted before it is kept", async () => {
  const hide = (text: string) => text.replaceAll("secret", "[hidden]");
  const redactor: Redactor = {
    text: hide,
    value: (value) => {
      if (typeof value === "string") return hide(value) as typeof value;
      if (Array.isArray(value)) return value.map((item) => redactor.value(item, "input")) as typeof value;
      if (value instanceof AIMessage) return new AIMessage(hide(value.text)) as typeof value;
      return value instanceof HumanMessage ? (new HumanMessage(hide(value.text)) as typeof value) : value;
    },
  };
  const model = fakeModel().respond((messages) => new AIMessage(`secret: ${messages.at(-1)?.text}`));
  const services = servicesInMemory({ redactor });
  const outcome = await execute(await agentOf({ model }), activationOf({ input: "my secret" }), services);
  expect(outcome).toMatchObject({ output: "[hidden]: my [hidden]" });
});
