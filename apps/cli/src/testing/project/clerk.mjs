import { AIMessage } from "@langchain/core/messages";
import { Annotation, interrupt, MessagesAnnotation, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ ...MessagesAnnotation.spec, structuredResponse: Annotation() });

/** Does what the first word of the document says: `fail`, `ask`, `slow <ms>`, `die`; else reads it. */
async function work({ messages }) {
  const text = messages.at(-1)?.text ?? "";
  const [first = "", second = ""] = text.split(/\s+/);
  if (first === "fail") throw new Error("the clerk can't read this");
  if (first === "die") process.kill(process.pid, "SIGKILL");
  if (first === "slow") await new Promise((resolve) => setTimeout(resolve, Number(second)));
  const answer = first === "ask" ? interrupt({ question: "Which total?" }) : null;
  const [company, total] = text.split("\n");
  return {
    messages: [new AIMessage(`read: ${company}`)],
    structuredResponse: { company, total: answer ?? (total === undefined ? null : Number(total)) },
  };
}

export const clerk = new StateGraph(State)
  .addNode("work", work)
  .addEdge("__start__", "work")
  .addEdge("work", "__end__")
  .compile();
