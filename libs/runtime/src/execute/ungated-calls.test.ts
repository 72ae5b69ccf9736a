import type { Redactor } from "@drover/contracts";
import { AIMessage, type BaseMessage, HumanMessage, isBaseMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { FakeListChatModel, FakeStreamingLLM } from "@langchain/core/utils/testing";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { activationOf, agentOf, servicesInMemory } from "../fixture/in-memory.js";
import type { LoadedAgent } from "../load/loaded-agent.js";
import { type Policy, parsePolicy } from "../policy/policy.js";
import { execute } from "./execute.js";

const ASK = "ring ann@example.com";
const clean = (text: string) => text.replaceAll("ann@example.com", "[X]");
const redactor: Redactor = {
  text: clean,
  value: <T>(value: T): T => {
    if (typeof value === "string") return clean(value) as T;
    if (Array.isArray(value)) return value.map((item) => redactor.value(item, "input")) as T;
    return isBaseMessage(value) ? (new HumanMessage(clean(value.text)) as T) : value;
  },
};

const seen: string[] = [];
class Chat extends FakeListChatModel {
  override async _generate(...args: Parameters<FakeListChatModel["_generate"]>) {
    seen.push(textOf(args[0]));
    return super._generate(...args);
  }
  override async *_streamResponseChunks(...args: Parameters<FakeListChatModel["_streamResponseChunks"]>) {
    seen.push(textOf(args[0]));
    yield* super._streamResponseChunks(...args);
  }
}
class Completion extends FakeStreamingLLM {
  override async _call(prompt: string) {
    seen.push(prompt);
    return "fine";
  }
  override async *_streamResponseChunks(...args: Parameters<FakeStreamingLLM["_streamResponseChunks"]>) {
    seen.push(String(args[0]));
    yield* super._streamResponseChunks(...args);
  }
}
const textOf = (messages: BaseMessage[]) => messages.map((message) => message.text).join();
const drained = async (stream: AsyncIterable<unknown>) => {
  for await (const _ of stream);
};

const chat = new Chat({ responses: ["fine"] });
const completion = new Completion({ responses: ["fine"] });
const WAYS: Record<string, () => Promise<unknown>> = {
  "chat, invoke": () => chat.invoke(ASK),
  "chat, stream": async () => drained(await chat.stream(ASK)),
  "chat, streamEvents": async () => drained(chat.streamEvents(ASK, { version: "v3" } as never) as never),
  "chat, batch": () => chat.batch([ASK]),
  "completion, invoke": () => completion.invoke(ASK),
  "completion, stream": async () => drained(await completion.stream(ASK)),
};

/** A graph whose node calls a model by itself, under these rules. */
const ownGraph = (way: string, policy: Policy): LoadedAgent => {
  const graph = new StateGraph(Annotation.Root({ text: Annotation<string> }))
    .addNode("ask", async () => {
      await WAYS[way]?.();
      return {};
    })
    .addEdge("__start__", "ask")
    .compile();
  const definition = { policy: parsePolicy(policy) };
  return { name: "own", version: "1", times: {}, definition, compile: async () => graph } as never;
};

it.each(Object.keys(WAYS))(
  "a node's own model is sent what its run's rules leave, for a unit: %s",
  async (way) => {
    seen.length = 0;
    const activation = activationOf({ agent: "own", input: { text: "go" } });
    const services = servicesInMemory({ redactor });
    const outcome = await execute(ownGraph(way, { modelCalls: { run: 9 } }), activation, services);
    expect(outcome).toMatchObject({ kind: "completed" });
    expect(seen).not.toEqual([]);
    expect(seen.join()).toContain("[X]");
    expect(seen.join()).not.toContain("ann@");
    expect(services.counters.taken.get("run model")).toBe(seen.length);
  },
);

describe("an agent inside of a tool", () => {
  const calls = (name: string) => [{ name, args: {}, id: name, type: "tool_call" as const }];

  /** One that never stops by itself, and how often it and the agent around it asked their models. */
  async function run(policy: Policy) {
    let asked = 0;
    let looked = 0;
    const look = tool(
      () => {
        looked += 1;
        return "seen";
      },
      { name: "look", description: "Looks", schema: z.object({}) },
    );
    const counted = (answer: AIMessage) => () => {
      asked += 1;
      return answer;
    };
    const endless = fakeModel();
    for (let i = 0; i < 9; i += 1)
      endless.respond(counted(new AIMessage({ content: "", tool_calls: calls("look") })));
    const inner = createAgent({ model: endless, tools: [look] });
    let delegated = 0;
    const delegate = tool(
      async () => {
        delegated += 1;
        return (await inner.invoke({ messages: [new HumanMessage("go")] })).messages.length;
      },
      { name: "delegate", description: "Delegates", schema: z.object({}) },
    );
    const model = fakeModel()
      .respond(counted(new AIMessage({ content: "", tool_calls: calls("delegate") })))
      .respond(counted(new AIMessage("done")));
    const agent = await agentOf({ model, tools: [delegate], policy });
    return {
      outcome: await execute(agent, activationOf(), servicesInMemory()),
      asked: () => asked,
      looked: () => looked,
      delegated: () => delegated,
    };
  }

  it("shares the limit of model calls: it fails where none is left, and so does the next request", async () => {
    const { outcome, asked, delegated } = await run({
      modelCalls: { run: 4 },
      toolRetry: [{ maxRetries: 3, initialDelayMs: 1 }],
    });
    expect(outcome).toMatchObject({ kind: "completed", endedBy: "model_call_limit" });
    expect(asked()).toBe(4);
    // Tried again it would begin from its start.
    expect(delegated()).toBe(1);
  });

  it("fails the run where the limit says so", async () => {
    const { outcome, asked } = await run({ modelCalls: { run: 4, onLimit: "error" } });
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "MODEL_CALL_LIMIT" } });
    expect(asked()).toBe(4);
  });

  it("shares the limits of tool calls, of one tool and of all", async () => {
    for (const limit of [{ run: 3 }, { tool: "lo*", run: 2 }]) {
      const { outcome, looked } = await run({ toolCalls: [limit] });
      expect(outcome).toMatchObject({ kind: "completed", output: "done" });
      expect(looked()).toBe(2);
    }
    const { outcome } = await run({ toolCalls: [{ run: 3, onLimit: "error" }] });
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "TOOL_CALL_LIMIT" } });
  });

  it("takes a unit for each call of its tool by itself", async () => {
    let called = 0;
    const itself = tool(
      async (): Promise<string> => {
        called += 1;
        return called < 9 ? itself.invoke({}).catch(String) : "enough";
      },
      { name: "itself", description: "Calls itself", schema: z.object({}) },
    );
    const model = fakeModel().respondWithTools(calls("itself")).respond(new AIMessage("done"));
    const agent = await agentOf({
      model,
      tools: [itself],
      policy: { toolCalls: [{ tool: "itself", run: 3 }] },
    });
    expect(await execute(agent, activationOf(), servicesInMemory())).toMatchObject({ output: "done" });
    expect(called).toBe(3);
  });
});
