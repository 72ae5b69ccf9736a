import { AIMessage, type BaseMessage } from "@langchain/core/messages";

type State = Record<string, unknown> & { messages: BaseMessage[] };

/** A conditional edge of LangGraph; its constructor is not exported. */
interface Branch {
  path: { invoke(state: State, config?: object): Promise<unknown> };
  constructor: new (options: { path: (state: State, config?: object) => unknown }) => Branch;
}

/** The parts of a compiled StateGraph that wire its nodes. */
interface Wiring {
  nodes: Record<string, { writers: { writes?: { channel?: unknown }[] }[] }>;
  builder: { branches: Record<string, Record<string, Branch>> };
  attachBranch(start: string, name: string, branch: Branch): void;
}

const MODEL = "model_request";

/**
 * Leads answers of the model without a call that may have to be asked about past the node that asks: it has nothing to
 * do for them, and would cost each a superstep, a checkpoint and a trip to Redis. createAgent knows no such edge, so
 * that its graph is rewired; one that is wired in another way is left as it is, which is slower and right too.
 *
 * @param graph of createAgent
 * @param node the node that asks
 */
export function leadUnaskedPast(
  graph: object,
  node: string,
  mayBeAskedAbout: (tool: string) => boolean,
): void {
  const { nodes, builder } = graph as Partial<Wiring>;
  const writers = nodes?.[MODEL]?.writers ?? [];
  const edge = writers.findIndex((writer) =>
    writer.writes?.some(({ channel }) => channel === `branch:to:${node}`),
  );
  const [after, ...others] = Object.values(builder?.branches[node] ?? {});
  if (edge < 0 || after === undefined || others.length > 0) return;
  const isUnasked = ({ messages }: State) => {
    const last = messages.at(-1);
    return !(AIMessage.isInstance(last) && last.tool_calls?.some(({ name }) => mayBeAskedAbout(name)));
  };
  writers.splice(edge, 1);
  (graph as Wiring).attachBranch(
    MODEL,
    "unasked",
    new after.constructor({
      // The node would have taken back where an earlier answer was to jump.
      path: (state, config) =>
        isUnasked(state) ? after.path.invoke({ ...state, jumpTo: undefined }, config) : node,
    }),
  );
}
