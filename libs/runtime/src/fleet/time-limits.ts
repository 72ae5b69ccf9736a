import { type Ceilings, timeLimitsSchema } from "@drover/contracts";
import { least } from "../policy/least.js";
import type { TimeLimits, Times } from "../policy/policy.js";
import { isFor } from "./of-tools.js";
import type { FleetPolicy } from "./read.js";

/** An agent's time limits under those of a fleet. */
export function lowerTimes(
  own: TimeLimits | undefined,
  most: Ceilings["timeLimits"],
  tools: readonly string[],
): TimeLimits | undefined {
  if (!most) return own;
  const has = isFor(tools);
  const limits = own ?? timeLimitsSchema.parse({});
  return {
    ...limits,
    runMs: least(limits.runMs, most.runMs),
    stepMs: least(limits.stepMs, most.stepMs),
    toolCeilings: Object.fromEntries(Object.entries(most.tools).filter(([tool]) => has(tool))),
  };
}

/** What a fleet says of graphs that have no policy; their tools are their own. */
export function timesOfGraphs(fleet: FleetPolicy | undefined): Times {
  const { defaults, ceilings } = fleet ?? {};
  const [own, most] = [defaults?.timeLimits, ceilings?.timeLimits];
  return { runMs: least(own?.runMs, most?.runMs), stepMs: least(own?.stepMs, most?.stepMs) };
}
