import { z } from "zod";
import { concurrencySchema } from "./concurrency.js";
import { piiRulesSchema } from "./pii.js";
import {
  approvalSchema,
  policyDataSchema,
  signedMessagesSchema,
  timeLimitFields,
  toolPatternSchema,
} from "./policy.js";

const most = z.int().min(1, "a limit is 1 or more").optional();
const limitFields = { run: most, thread: most };

/** What no agent may go beyond. An agent that says less keeps what it says. */
export const ceilingsSchema = z.strictObject({
  modelCalls: z.strictObject(limitFields).optional(),
  toolCalls: z.array(z.strictObject({ tool: toolPatternSchema.optional(), ...limitFields })).default([]),
  modelTurns: most,
  /** Tries after the first, of models and of tools. */
  maxRetries: z.int().min(0).optional(),
  timeLimits: z.strictObject(timeLimitFields).optional(),
  /** Asked about whatever the agent says of them. `true` asks with the agent's own decisions. */
  approvals: z.record(toolPatternSchema, z.union([z.literal(true), approvalSchema.partial()])).default({}),
  once: z.array(toolPatternSchema).default([]),
  /** In force beside the agent's own rules, at every place unless a rule says `"everywhere": false`. */
  pii: piiRulesSchema.default([]),
  /** Refused without a signature, beside what an agent says. */
  signedMessages: signedMessagesSchema,
});
export type Ceilings = z.output<typeof ceilingsSchema>;

/**
 * The policy of a whole fleet, as its file holds it. `defaults` stand where an agent says nothing; `ceilings` hold
 * whatever it says. What names a tool is for the agents that have it.
 */
export const fleetPolicySchema = z.strictObject({
  $schema: z.string().optional(),
  defaults: policyDataSchema.partial().optional(),
  ceilings: ceilingsSchema.default(ceilingsSchema.parse({})),
  /** How many runs may be worked on at once. */
  concurrency: concurrencySchema.default(concurrencySchema.parse({})),
});
