import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { CallbackManager } from "@langchain/core/callbacks/manager";
import { AIMessage } from "@langchain/core/messages";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { z } from "zod";
import { ModelCallbacks } from "./model-callbacks.js";

class Listener extends BaseCallbackHandler {
  readonly name = "listener";
  override readonly awaitHandlers = true;
  readonly heard: string[] = [];

  constructor(override readonly ignoreChain: boolean) {
    super();
  }

  override handleChainStart(): void {
    this.heard.push("chain");
  }

  override handleToolStart(): void {
    this.heard.push("tool");
  }

  override handleChatModelStart(...args: unknown[]): void {
    const metadata = args[6] as Record<string, unknown>;
    const step = String(metadata.langgraph_checkpoint_ns).replace(/:[^|]*/g, "");
    this.heard.push(`model in ${step} for ${metadata.customer}, tags ${args[5]}`);
  }
}

/** A model in a node, one in a subgraph, and one in a tool that a node calls. */
function graph() {
  const model = new FakeListChatModel({ responses: ["hello"] });
  const ask = async (_: unknown, config: RunnableConfig) => ({
    messages: [await model.invoke("hi", config)],
  });
  const look = tool(async () => (await model.invoke("hi")).text, { name: "look", schema: z.object({}) });
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("ask", ask)
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile();
  return new StateGraph(MessagesAnnotation)
    .addNode("first", ask)
    .addNode("inner", inner)
    .addNode("tools", async () => ({ messages: [new AIMessage(String(await look.invoke({})))] }))
    .addNode("lambda", RunnableLambda.from(ask) as never)
    .addEdge(START, "first")
    .addEdge("first", "inner")
    .addEdge("inner", "tools")
    .addEdge("tools", "lambda")
    .addEdge("lambda", END)
    .compile();
}

const heardBy = async (listener: Listener, callbacks: BaseCallbackHandler[] | CallbackManager) => {
  await graph().invoke({ messages: [] }, { callbacks, metadata: { customer: "c1" }, tags: ["t"] });
  return listener.heard;
};

it("tells of models and tools what LangChain's own manager tells, wherever in a graph they are", async () => {
  const [usual, quick] = [new Listener(true), new Listener(true)];
  const expected = await heardBy(usual, [usual]);
  expect(expected.filter((one) => one.startsWith("model"))).toHaveLength(4);
  expect(expected).toContain("tool");
  expect(await heardBy(quick, ModelCallbacks.of([quick]))).toEqual(expected);
});

it("tells another handler of every step", async () => {
  const [usual, other] = [new Listener(false), new Listener(false)];
  const expected = await heardBy(usual, [usual]);
  const callbacks = ModelCallbacks.of([new Listener(true)]);
  callbacks.addHandler(other, true);
  expect(await heardBy(other, callbacks)).toEqual(expected);
  expect(expected.filter((one) => one === "chain").length).toBeGreaterThan(4);
});
