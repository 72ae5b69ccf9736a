import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ text: Annotation(), answer: Annotation() });

/** One step that asks a person, in the shape of a tool call that waits for a decision. */
export const agent = new StateGraph(State)
  .addNode("ask", ({ text }) => ({
    answer: interrupt({
      actionRequests: [{ name: "post", args: { text }, description: `Post ${text}?` }],
      reviewConfigs: [{ actionName: "post", allowedDecisions: ["approve", "reject"] }],
    }),
  }))
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();
