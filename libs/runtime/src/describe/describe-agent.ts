import { toolNamesOf } from "../agent/define-agent.js";
import { type LoadedAgent, piiRulesOf } from "../load/loaded-agent.js";
import { type Behaviour, behavioursOf } from "./behaviours.js";
import { plainSetting } from "./plain-setting.js";
import { type Setting, settingsOf } from "./settings.js";

/** What an agent does and why, as JSON: for `drover agents show` and for tests of an agent's order. */
export interface AgentDescription {
  name: string;
  version: string;
  description: string | null;
  /** `provider:model`, the agent's own first, then its fallbacks; empty for a graph without a definition. */
  models: unknown[];
  tools: string[];
  /** In the order in which they take effect, moment by moment; of one moment the first is the outermost. */
  behaviours: Behaviour[];
  settings: Setting[];
  /** Supersteps of one activation; null leaves it to the graph. */
  recursionLimit: number | null;
  /** The file of the fleet's policy. */
  fleetPolicy: string | null;
}

export function describeAgent(agent: LoadedAgent): AgentDescription {
  const { definition, fleet, people, times } = agent;
  const policy = definition?.policy ?? { ...people, pii: piiRulesOf(agent), timeLimits: times };
  return {
    name: agent.name,
    version: agent.version,
    description: agent.description ?? null,
    models: definition ? [definition.model, ...(definition.fallbacks ?? [])].map(plainSetting) : [],
    tools: definition ? toolNamesOf(definition) : [],
    behaviours: definition ? behavioursOf(definition) : [],
    settings: settingsOf(definition?.declared ?? {}, policy, fleet),
    recursionLimit: agent.recursionLimit ?? null,
    fleetPolicy: fleet?.file ?? null,
  };
}
