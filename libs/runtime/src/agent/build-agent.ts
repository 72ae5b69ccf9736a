import { type CreateAgentParams, createAgent } from "langchain";
import { approvalRuleFor } from "../policy/approval-rules.js";
import { compilePolicy, NODE_THAT_ASKS } from "../policy/compile.js";
import { type CompiledGraph, compiledGraphIn } from "./compiled-graph.js";
import { type AgentDefinition, toolNamesOf } from "./define-agent.js";
import type { AgentModels } from "./models.js";
import { leadUnaskedPast } from "./unasked.js";

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
  const { policy } = definition;
  leadUnaskedPast(graph, NODE_THAT_ASKS, (tool) => approvalRuleFor(policy, tool) !== undefined);
  return graph;
}
