import type { Redactor } from "@drover/contracts";
import { type BaseMessage, HumanMessage, isBaseMessage } from "@langchain/core/messages";
import { FakeListChatModel, FakeStreamingLLM } from "@langchain/core/utils/testing";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { activationOf, servicesInMemory } from "../fixture/in-memory.js";
import type { LoadedAgent } from "../load/loaded-agent.js";
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

it.each(Object.keys(WAYS))("a node's own model is sent what its run's rules leave: %s", async (way) => {
  seen.length = 0;
  const graph = new StateGraph(Annotation.Root({ text: Annotation<string> }))
    .addNode("ask", async () => {
      await WAYS[way]?.();
      return {};
    })
    .addEdge("__start__", "ask")
    .compile();
  const agent = {
    name: "own",
    version: "1",
    times: {},
    compile: async () => graph,
  } as unknown as LoadedAgent;
  const activation = activationOf({ agent: "own", input: { text: "go" } });
  const outcome = await execute(agent, activation, servicesInMemory({ redactor }));
  expect(outcome).toMatchObject({ kind: "completed" });
  expect(seen).not.toEqual([]);
  expect(seen.join()).toContain("[X]");
  expect(seen.join()).not.toContain("ann@");
});
