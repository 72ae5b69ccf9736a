import type { BaseCheckpointSaver } from "@langchain/langgraph";

/** What Drover needs of a compiled graph; `createAgent` and `StateGraph.compile` both give it. */
export interface CompiledGraph {
  stream(input: unknown, options: Record<string, unknown>): Promise<AsyncIterable<unknown>>;
  getState(config: Record<string, unknown>): Promise<GraphState>;
  channels: Record<string, unknown>;
  checkpointer?: BaseCheckpointSaver | boolean | undefined;
}

/** The part of LangGraph's StateSnapshot that is read. */
export interface GraphState {
  values: Record<string, unknown>;
  next: readonly string[];
  tasks: readonly { interrupts: readonly { id?: string; value?: unknown }[]; result?: unknown }[];
  config: { configurable?: Record<string, unknown> };
}

/** The compiled graph in what a project exported, or undefined. Not `instanceof`: a project has its own copies. */
export function compiledGraphIn(value: unknown): CompiledGraph | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isCompiledGraph(value)) return value;
  return "graph" in value && isCompiledGraph(value.graph) ? value.graph : undefined;
}

function isCompiledGraph(value: unknown): value is CompiledGraph {
  if (typeof value !== "object" || value === null) return false;
  const graph = value as Partial<Record<keyof CompiledGraph, unknown>>;
  return (
    typeof graph.stream === "function" &&
    typeof graph.getState === "function" &&
    typeof graph.channels === "object"
  );
}
