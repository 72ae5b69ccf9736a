import { Annotation, StateGraph } from "@langchain/langgraph";
import { wallClock } from "../child.mjs";

const State = Annotation.Root({ text: Annotation(), startedAt: Annotation() });

/** One step that tells when it started. */
export const agent = new StateGraph(State)
  .addNode("tell", () => ({ startedAt: wallClock() }))
  .addEdge("__start__", "tell")
  .addEdge("tell", "__end__")
  .compile();
