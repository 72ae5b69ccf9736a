import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  type AgentMiddleware,
  anthropicPromptCachingMiddleware,
  ClearToolUsesEdit,
  contextEditingMiddleware,
  dynamicSystemPromptMiddleware,
  providerToolSearchMiddleware,
  tool,
} from "langchain";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { AgentSpec } from "../agent/define-agent.js";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory } from "../fixture/in-memory.js";
import { type ProviderServer, startProviderServer } from "../testing/index.js";

/** Middleware that an agent brings: LangChain's, where it is right, and one's own. */
let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer({ script: [] });
});
afterEach(() => server.close());

const OPENAI = "openai:gpt-5.4-mini";
const CLAUDE = "anthropic:claude-haiku-4-5";
const named = (name: string) =>
  tool(() => `result of ${name} ${"r".repeat(200)}`, {
    name,
    description: "",
    schema: z.object({ n: z.number().optional() }),
  });
const look = named("look");
const calling = (name: string, n = 1) => ({ toolCalls: [{ name, args: { n } }] });
const as = (middleware: unknown) => middleware as AgentMiddleware;

async function run(
  spec: Partial<AgentSpec>,
  more: Parameters<typeof activationOf>[0] = {},
  services = servicesInMemory(),
) {
  const agent = await agentOf({ model: OPENAI, tools: [look], ...spec }, server.env);
  return { services, outcome: await execute(agent, activationOf(more), services) };
}

const body = (i: number) => JSON.stringify(server.requests.at(i)?.body);

describe("context editing", () => {
  const turns = [calling("look"), calling("look"), calling("look"), { text: "done" }];

  it.each([
    ["trigger and keep by messages", { trigger: { messages: 5 }, keep: { messages: 1 } }, 2],
    ["by tokens", { trigger: { tokens: 100 }, keep: { tokens: 70 } }, 2],
    ["by a fraction of the model's context", { trigger: { fraction: 0.0001 }, keep: { messages: 2 } }, 1],
    ["keeping all", { trigger: { messages: 5 }, keep: { messages: 3 } }, 0],
    ["excludeTools", { trigger: { messages: 5 }, keep: { messages: 0 }, excludeTools: ["look"] }, 0],
    ["the default trigger", {}, 0],
    ["an older name", { triggerTokens: 100, keepMessages: 1 }, 2],
    ["clearAtLeast", { trigger: { tokens: 100 }, keep: { messages: 3 }, clearAtLeast: 0 }, 0],
  ])("%s", async (_, config, cleared) => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    server.use(turns);
    const edits = [new ClearToolUsesEdit({ placeholder: "[gone]", ...config })];
    const { outcome } = await run({
      middleware: [as(contextEditingMiddleware({ edits, tokenCountMethod: "approx" }))],
    });
    expect(outcome).toMatchObject({ output: "done" });
    expect(body(-1).split("[gone]")).toHaveLength(cleared + 1);
    expect(body(-1).split("result of look")).toHaveLength(3 - cleared + 1);
  });

  it("counting by a model that can't fails the run", async () => {
    server.use([{ text: "never" }]);
    const edits = [new ClearToolUsesEdit()];
    const middleware = [as(contextEditingMiddleware({ edits, tokenCountMethod: "model" }))];
    const { outcome } = await run({ model: CLAUDE, middleware });
    expect(outcome).toMatchObject({
      kind: "failed",
      error: { message: expect.stringContaining("does not support token counting") },
    });
  });

  it("clearToolInputs takes the arguments too", async () => {
    server.use([calling("look", 77), calling("look", 78), { text: "done" }]);
    const edits = [
      new ClearToolUsesEdit({ trigger: { messages: 4 }, keep: { messages: 0 }, clearToolInputs: true }),
    ];
    await run({ middleware: [as(contextEditingMiddleware({ edits }))] });
    expect(body(-1)).not.toContain("77");
    expect(body(-1)).toContain("[cleared]");
  });

  it("an edit of one's own", async () => {
    server.use([{ text: "done" }]);
    const apply = async ({ messages }: { messages: BaseMessage[] }) => {
      messages[0] = new HumanMessage("edited");
    };
    await run({ middleware: [as(contextEditingMiddleware({ edits: [{ apply }] }))] });
    expect(server.requests[0]?.messages.map(({ text }) => text)).toEqual(["edited"]);
  });
});

it("a dynamic system prompt sees state and context", async () => {
  server.use([{ text: "done" }]);
  const prompt = dynamicSystemPromptMiddleware<{ region: string }>(
    (state, runtime) => `Region ${runtime.context.region}, ${state.messages.length} message.`,
  );
  await run(
    { systemPrompt: "You help. ", middleware: [as(prompt)], contextSchema: z.object({ region: z.string() }) },
    { context: { region: "EU" } },
  );
  expect(server.requests[0]?.messages[0]).toEqual({
    role: "developer",
    text: "You help. Region EU, 1 message.",
  });
});

describe("prompt caching", () => {
  it.each([
    ["by default after three messages", undefined, false],
    ["from the first", { minMessagesToCache: 1 }, true],
    ["for an hour", { minMessagesToCache: 1, ttl: "1h" as const }, true],
    ["not at all", { minMessagesToCache: 1, enableCaching: false }, false],
  ])("Anthropic's: %s", async (_, options, isCached) => {
    server.use([{ text: "done" }]);
    await run({ model: CLAUDE, middleware: [as(anthropicPromptCachingMiddleware(options as never))] });
    expect(body(0).includes('"cache_control"')).toBe(isCached);
    if (options && "ttl" in options) expect(body(0)).toContain('"ttl":"1h"');
  });

  it("Anthropic's leaves a fallback of another provider alone", async () => {
    server.use((request) => (request.api === "anthropic-messages" ? { status: 400 } : { text: "done" }));
    const caching = anthropicPromptCachingMiddleware({
      minMessagesToCache: 1,
      unsupportedModelBehavior: "ignore",
    } as never);
    const { outcome } = await run({ model: CLAUDE, fallbacks: [OPENAI], middleware: [as(caching)] });
    expect(outcome).toMatchObject({ output: "done" });
    expect(body(0)).toContain("cache_control");
    expect(body(1)).not.toContain("cache_control");
  });
});

describe("provider tool search", () => {
  it.each([[OPENAI], [CLAUDE]])("defers the named tools behind %s's own search", async (model) => {
    server.use([{ text: "done" }]);
    const useResponses = model === OPENAI ? { model, params: { useResponsesApi: true } } : model;
    const search = providerToolSearchMiddleware({ searchableTools: ["rare"] });
    const { outcome } = await run({
      model: useResponses,
      tools: [look, named("rare")],
      middleware: [as(search)],
    });
    expect(outcome).toMatchObject({ output: "done" });
    expect(body(0)).toContain('"defer_loading":true');
    expect(body(0)).toContain("tool_search");
  });
});
