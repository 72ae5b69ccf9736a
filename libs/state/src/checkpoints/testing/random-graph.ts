import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";

/** What a node does in its turn. */
export type Action =
  | { do: "say"; count: number; size: number }
  | { do: "edit" | "remove" | "mutate"; place: number }
  | { do: "fan"; width: number }
  | { do: "ask" | "fail" | "note" | "values" | "child" };

/** What a test does with a thread. */
export type Step =
  | { step: "run"; actions: Action[] }
  | { step: "resume"; answer: number }
  | { step: "update" | "fork" | "replay"; place: number }
  | { step: "reopen" };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    do: fc.constant("say" as const),
    count: fc.integer({ min: 1, max: 40 }),
    size: fc.integer({ min: 0, max: 700 }),
  }),
  fc.record({
    do: fc.constantFrom("edit" as const, "remove" as const, "mutate" as const),
    place: fc.nat(60),
  }),
  fc.record({ do: fc.constant("fan" as const), width: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    do: fc.constantFrom(
      "ask" as const,
      "fail" as const,
      "note" as const,
      "values" as const,
      "child" as const,
    ),
  }),
);

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        step: fc.constant("run" as const),
        actions: fc.array(action, { minLength: 1, maxLength: 5 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ step: fc.constant("resume" as const), answer: fc.nat(9) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        step: fc.constantFrom("update" as const, "fork" as const, "replay" as const),
        place: fc.nat(30),
      }),
    },
    { weight: 1, arbitrary: fc.record({ step: fc.constant("reopen" as const) }) },
  ),
  { minLength: 2, maxLength: 9 },
);

const last = <T>(_: T, next: T): T => next;
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  actions: Annotation<Action[]>({ reducer: last, default: () => [] }),
  notes: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  values: Annotation<Record<string, unknown>>({ reducer: last, default: () => ({}) }),
});
type State = typeof State.State;

let counter = 0;
const text = (size: number) => `${counter++}:${"é".repeat(size % 7)}${"x".repeat(size)}`;

function act(state: State): Partial<State> | Command {
  const [first, ...actions] = state.actions;
  const at = (place: number) => state.messages[place % Math.max(1, state.messages.length)];
  switch (first?.do) {
    case "say": {
      const messages: BaseMessage[] = Array.from({ length: first.count }, (_, i) =>
        i % 2 === 0
          ? new AIMessage({
              content: text(first.size),
              tool_calls: [{ name: "t", args: { i }, id: `c${i}` }],
            })
          : new ToolMessage({ content: text(first.size), tool_call_id: `c${i - 1}`, artifact: { i } }),
      );
      return { messages, actions };
    }
    case "edit": {
      const id = at(first.place)?.id;
      return { actions, messages: id === undefined ? [] : [new HumanMessage({ id, content: text(30) })] };
    }
    case "remove": {
      const id = at(first.place)?.id;
      return { actions, messages: id === undefined ? [] : [new RemoveMessage({ id })] };
    }
    case "mutate": {
      const message = at(first.place);
      if (message !== undefined) message.additional_kwargs.mutated = text(3);
      return { actions };
    }
    case "fan": {
      const sends = Array.from(
        { length: first.width },
        (_, i) => new Send("worker", { ...state, actions, values: { i } }),
      );
      return new Command({ goto: sends, update: { actions } });
    }
    case "ask":
      return { actions, notes: [`answered ${JSON.stringify(interrupt({ question: text(5) }))}`] };
    case "fail":
      if (counter++ % 2 === 0) throw new Error(`a node failed: ${text(4)}`);
      return { actions };
    case "note":
      return { actions, notes: Array.from({ length: 20 }, (_, i) => text(i)) };
    case "values":
      return {
        actions,
        values: {
          map: new Map<string, unknown>([["a", new Set([1, "b"])]]),
          bytes: new Uint8Array([1, 2, 250]),
          $: { $: "b", v: 3 },
          long: text(2000),
          nested: { deep: [{ long: text(400), none: undefined, nothing: null }, "😀"] },
        },
      };
    default:
      return { actions };
  }
}

const isChild = (state: State) => state.actions[0]?.do === "child";
const next = (state: State) => (state.actions.length === 0 ? END : isChild(state) ? "child" : "act");

export function compileGraph(checkpointer: BaseCheckpointSaver) {
  const child = new StateGraph(State)
    .addNode("inner", (state) => ({
      messages: [new AIMessage(text(20))],
      notes: [`inner ${state.notes.length}`],
    }))
    .addNode("outer", (state) => ({ actions: state.actions.slice(1) }))
    .addEdge(START, "inner")
    .addEdge("inner", "outer")
    .compile();
  return new StateGraph(State)
    .addNode("act", act, { ends: ["worker"] })
    .addNode("worker", (state: State) => {
      const message = state.messages[0];
      if (message !== undefined) message.additional_kwargs.seen = counter++;
      return { messages: [new ToolMessage({ content: text(100), tool_call_id: "c" })] };
    })
    .addNode("child", child)
    .addConditionalEdges(START, next)
    .addConditionalEdges("act", next)
    .addConditionalEdges("child", next)
    .addEdge("worker", END)
    .compile({ checkpointer });
}

export async function takeStep(
  graph: ReturnType<typeof compileGraph>,
  threadId: string,
  step: Step,
): Promise<void> {
  const config = { configurable: { thread_id: threadId }, recursionLimit: 40, durability: "sync" as const };
  const failed = (error: unknown) => {
    if (!(error instanceof Error) || !error.message.includes("a node failed")) throw error;
  };
  const past = async (place: number) => {
    const history = [];
    for await (const state of graph.getStateHistory(config)) history.push(state);
    return history[place % Math.max(1, history.length)];
  };
  if (step.step === "run") {
    const input = { messages: [new HumanMessage(text(10))], actions: step.actions };
    await graph.invoke(input, config).catch(failed);
  } else if (step.step === "resume") {
    const { tasks } = await graph.getState(config);
    const asked = tasks.some(({ interrupts }) => interrupts.length > 0);
    const input = (asked ? new Command({ resume: step.answer }) : null) as null;
    await graph.invoke(input, config).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== "EmptyInputError") failed(error);
    });
  } else if (step.step !== "reopen") {
    const state = await past(step.place);
    if (state === undefined) return;
    const update = { messages: [new AIMessage(text(15))], notes: ["updated"] };
    if (step.step === "update") await graph.updateState(config, update, "act");
    if (step.step === "fork") await graph.updateState(state.config, update, "act");
    if (step.step === "replay") await graph.invoke(null, { ...config, ...state.config }).catch(failed);
  }
}
