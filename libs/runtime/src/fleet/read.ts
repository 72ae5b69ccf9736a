import { readFile } from "node:fs/promises";
import {
  type Ceilings,
  type ConcurrencyLimits,
  DroverError,
  fleetPolicySchema,
  type PolicyData,
  parseOrThrow,
} from "@drover/contracts";

/** The policy of a whole fleet. */
export interface FleetPolicy {
  /** For messages. */
  file: string;
  /** As they stand in the file: without the defaults of what they leave out. */
  defaults: Partial<PolicyData>;
  ceilings: Ceilings;
  concurrency: ConcurrencyLimits;
}

/** Throws INVALID_POLICY with the file and the path of every wrong key. */
export async function readFleetPolicy(file: string): Promise<FleetPolicy> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new DroverError("INVALID_POLICY", `The fleet's policy ${file} could not be read.`, { cause });
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "";
    throw new DroverError("INVALID_POLICY", `The fleet's policy ${file} is not JSON: ${why}.`, { cause });
  }
  return fleetPolicyOf(json, file);
}

export function fleetPolicyOf(json: unknown, file: string): FleetPolicy {
  const where = `The fleet's policy ${file}`;
  const { ceilings, concurrency } = parseOrThrow(fleetPolicySchema, json, where, "INVALID_POLICY");
  const { defaults = {} } = json as { defaults?: Partial<PolicyData> };
  const pii = ceilings.pii.map((rule) => ({
    ...rule,
    everywhere: rule.everywhere ?? rule.except.length === 0,
  }));
  return { file, defaults, ceilings: { ...ceilings, pii }, concurrency };
}
