import { type CreateAgentParams, createAgent } from "langchain";
import { compilePolicy } from "../policy/compile.js";
import { type CompiledGraph, compiledGraphIn } from "./compiled-graph.js";
import { type AgentDefinition, toolNamesOf } from "./define-agent.js";
import type { AgentModels } from "./models.js";

/** Builds the graph of a definition: once for a process, for all runs. */
export function buildAgent(definition: AgentDefinition, models: AgentModels): CompiledGraph {
  const params = {
    name: definition.name,
    model: models.primary,
    tools: definition.tools,
    systemPrompt: definition.systemPrompt,
    contextSchema: definition.contextSchema,
    stateSchema: definition.stateSchema,
    responseFormat: definition.responseFormat,
    description: definition.description,
    middleware: compilePolicy(definition, models, toolNamesOf(definition)),
  };
  const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
  const graph = compiledGraphIn(createAgent(given as unknown as CreateAgentParams));
  if (!graph) throw new TypeError("createAgent gave no graph");
  return graph;
}
