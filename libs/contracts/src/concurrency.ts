import { z } from "zod";
import { nameSchema } from "./ids.js";

const most = z.int().min(1, "a limit is 1 or more").max(1_000_000);
/** A name's own number, else that of "*", else none. */
const limitsByName = z.record(z.union([nameSchema, z.literal("*")]), most).default({});

/** A caller's own key: runs of one tenant that name the same one share its limit. */
export const concurrencyKeySchema = z
  .string()
  .min(1)
  .max(128)
  .refine((key) => key.isWellFormed(), "a concurrency key is well-formed Unicode");
export const concurrencyLimitSchema = most;

/** How many runs may be worked on at once in the whole fleet. */
export const concurrencySchema = z.strictObject({
  tenants: limitsByName,
  agents: limitsByName,
  /** Callers' own keys, of each tenant for itself. A request may ask for less, never for more. */
  keys: z.record(z.union([concurrencyKeySchema, z.literal("*")]), most).default({}),
});
export type ConcurrencyLimits = z.output<typeof concurrencySchema>;

export const NO_CONCURRENCY_LIMITS: ConcurrencyLimits = concurrencySchema.parse({});

export type ShareKind = "tenant" | "agent" | "key";

/** What a run needs a share of before it may start. */
export interface ShareLimit {
  kind: ShareKind;
  name: string;
  limit: number;
  /** Whose turn it is among those that wait: turns go round between groups. */
  group: string;
}

/** What is known of a run that falls under limits. */
export interface LimitedRun {
  tenant: string;
  agent: string;
  own: { key: string; limit: number | null } | null;
}

const limitOf = (limits: Record<string, number>, name: string): number | undefined =>
  Object.hasOwn(limits, name) ? limits[name] : limits["*"];

/** The shares that a run needs. An own key that nobody gave a number lets one run go at a time. */
export function sharesOf({ tenant, agent, own }: LimitedRun, limits: ConcurrencyLimits): ShareLimit[] {
  const shares: ShareLimit[] = [];
  const add = (kind: ShareKind, name: string, limit: number | undefined, group: string) => {
    if (limit !== undefined) shares.push({ kind, name, limit, group });
  };
  add("tenant", tenant, limitOf(limits.tenants, tenant), own?.key ?? agent);
  add("agent", agent, limitOf(limits.agents, agent), tenant);
  if (own) {
    const given = [own.limit, limitOf(limits.keys, own.key)].filter((n) => n !== null && n !== undefined);
    add("key", own.key, given.length > 0 ? Math.min(...given) : 1, agent);
  }
  return shares;
}
