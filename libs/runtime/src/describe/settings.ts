import { isDeepStrictEqual } from "node:util";
import type { FleetPolicy } from "../fleet/read.js";
import { type Policy, parsePolicy } from "../policy/policy.js";
import { plainSetting } from "./plain-setting.js";

/** Who says what a setting is: the fleet's ceiling where it changed what the others say. */
export type Origin = "agent" | "fleet default" | "fleet ceiling" | "default";

/** One value of a policy in effect. */
export interface Setting {
  /** For example `modelRetry.onFailure` or `toolCalls.0.onLimit`. */
  path: string;
  value: unknown;
  from: Origin;
}

/**
 * Every value of the policy in effect, each with its origin: what the agent does not say is there, too.
 * @param said what the agent itself says; nothing for a graph without a definition
 */
export function settingsOf(said: Policy, policy: object, fleet: FleetPolicy | undefined): Setting[] {
  const declared = leaves(plainSetting(said));
  const defaults = leaves(plainSetting(fleet?.defaults ?? {}));
  const own = leaves(plainSetting(parsePolicy(said)));
  const origin = (path: string, value: unknown): Origin => {
    const isOwn = isDeepStrictEqual(own.get(path), value);
    if (isOwn && declared.has(path)) return "agent";
    if (!declared.has(path) && defaults.has(path) && isDeepStrictEqual(defaults.get(path), value))
      return "fleet default";
    if (isOwn || fleet === undefined) return "default";
    return "fleet ceiling";
  };
  return [...leaves(plainSetting(policy))].map(([path, value]) => ({
    path,
    // Nobody is asked: an agent writes that as false.
    value: value ?? false,
    from: origin(path, value),
  }));
}

/** The values under their paths; an empty list or object is a value itself. */
function leaves(value: unknown, path = "", into = new Map<string, unknown>()): Map<string, unknown> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const isList = Array.isArray(value) && value.every((item) => typeof item !== "object");
  if (entries.length === 0 || isList) {
    if (path !== "") into.set(path, value);
    return into;
  }
  for (const [key, item] of entries) leaves(item, path === "" ? key : `${path}.${key}`, into);
  return into;
}
