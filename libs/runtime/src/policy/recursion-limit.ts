import { DEFAULT_MODEL_TURNS } from "@drover/contracts";
import type { AgentDefinition } from "../agent/define-agent.js";
import { middlewareOf } from "../agent/placement.js";
import { asksForApproval } from "./approval-rules.js";

/**
 * How many supersteps one activation may take: as many as its model turns need. A turn is the model's step, its
 * tools' step and one for each node hook before or after the model; hooks around the agent come once.
 * Turns: policy.modelTurns, else the run's limit of model calls (and one more turn in which the agent says that it
 * was reached), else DEFAULT_MODEL_TURNS.
 */
export function recursionLimitOf({ policy, middleware = [] }: AgentDefinition): number {
  if (policy.recursionLimit !== undefined) return policy.recursionLimit;
  const own = middleware.map(middlewareOf);
  const hooks = (name: "beforeModel" | "afterModel" | "beforeAgent" | "afterAgent") =>
    own.filter((entry) => entry[name] !== undefined).length;
  const perTurn = 2 + hooks("beforeModel") + hooks("afterModel") + (asksForApproval(policy) ? 1 : 0);
  const once = hooks("beforeAgent") + hooks("afterAgent");
  const turns = policy.modelTurns ?? (policy.modelCalls?.run ?? DEFAULT_MODEL_TURNS - 1) + 1;
  return turns * perTurn + once;
}
