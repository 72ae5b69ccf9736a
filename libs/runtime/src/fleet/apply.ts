import { DroverError } from "@drover/contracts";
import { type AgentDefinition, checkedAgainst, toolNamesOf, withPolicy } from "../agent/define-agent.js";
import { type EffectivePolicy, type Policy, parsePolicy } from "../policy/policy.js";
import { underCeilings } from "./ceilings.js";
import { defaultsFor } from "./of-tools.js";
import type { FleetPolicy } from "./read.js";

/** The definition under a fleet's policy. Throws INVALID_POLICY with the fleet's file where both contradict. */
export function withFleetPolicy(definition: AgentDefinition, fleet: FleetPolicy): AgentDefinition {
  try {
    const tools = toolNamesOf(definition);
    const defaults = parsePolicy(withDefaults(definition.declared, defaultsFor(fleet.defaults, tools)));
    const policy: EffectivePolicy = underCeilings(defaults, fleet.ceilings, tools);
    return checkedAgainst(withPolicy(definition, policy));
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    throw new DroverError(error.code, `${error.message} (with the fleet's policy ${fleet.file})`, {
      cause: error,
    });
  }
}

/** `modelRetry` and `toolErrors` are filled up key by key; everything else is the agent's or the fleet's as a whole. */
function withDefaults(declared: Policy, defaults: FleetPolicy["defaults"]): unknown {
  const own = Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== undefined));
  return {
    ...defaults,
    ...own,
    ...(defaults.modelRetry ? { modelRetry: { ...defaults.modelRetry, ...declared.modelRetry } } : {}),
    ...(defaults.toolErrors ? { toolErrors: { ...defaults.toolErrors, ...declared.toolErrors } } : {}),
  };
}
