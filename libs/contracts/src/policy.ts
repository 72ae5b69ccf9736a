import { z } from "zod";
import { DECISION_TYPES } from "./interrupt.js";

/**
 * The part of a policy that is data: what a file can say. An agent's definition adds functions to it
 * (libs/runtime, policy/policy.ts). Every default of a policy stands here and nowhere else.
 */

/** A tool's name, or a pattern in which `*` stands for any characters: `post_*`. */
export const toolPatternSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9_.*-]{1,128}$/,
    "use a tool's name, or a pattern of letters, digits, '_', '.', '-' and '*'",
  );

const units = z.int().min(1, "a limit is 1 or more");
const needsScope = { message: "set 'run', 'thread' or both: a limit without a number limits nothing" };
const hasScope = (limit: { run?: number | undefined; thread?: number | undefined }) =>
  limit.run !== undefined || limit.thread !== undefined;

/** One unit is taken before each request to a provider: retries, fallbacks and redeliveries included. */
export const modelCallsSchema = z
  .strictObject({
    run: units.optional(),
    thread: units.optional(),
    /** end: the agent stops with what it has; error: the run fails with MODEL_CALL_LIMIT. */
    onLimit: z.enum(["end", "error"]).default("end"),
  })
  .refine(hasScope, needsScope);

/** One unit is taken before each execution of a tool: retries and redeliveries included. */
export const toolCallsSchema = z
  .strictObject({
    /** All tools together if left out. */
    tool: toolPatternSchema.optional(),
    run: units.optional(),
    thread: units.optional(),
    /** continue: the model is told; end: the agent stops; error: the run fails with TOOL_CALL_LIMIT. */
    onLimit: z.enum(["continue", "end", "error"]).default("continue"),
  })
  .refine(hasScope, needsScope);

/** How long to wait between tries. Times are milliseconds. */
export const retryFields = {
  /** Tries after the first. */
  maxRetries: z.int().min(0).max(20).default(2),
  initialDelayMs: z.number().min(0).max(3_600_000).default(1000),
  backoffFactor: z.number().min(1).max(10).default(2),
  maxDelayMs: z.number().min(0).max(3_600_000).default(60_000),
  /** Varies each wait by up to a quarter in both directions. */
  jitter: z.boolean().default(true),
};

export const modelRetrySchema = z.strictObject({
  ...retryFields,
  /** continue: the error's text becomes the model's answer. */
  onFailure: z.enum(["error", "continue"]).default("error"),
});

export const toolRetrySchema = z.strictObject({
  /** All tools if left out. */
  tools: z.array(toolPatternSchema).min(1, "name at least one tool, or leave 'tools' out").optional(),
  ...retryFields,
  /** continue: the model is told that the tool failed; error: the run fails. */
  onFailure: z.enum(["error", "continue"]).default("continue"),
});

export const decisionsSchema = z
  .array(z.enum(DECISION_TYPES))
  .min(1, "allow at least one decision: a question without one can't be answered")
  .refine((list) => new Set(list).size === list.length, "names a decision twice");

/** What `true` allows a reviewer to decide. */
export const DEFAULT_DECISIONS = ["approve", "edit", "reject"] as const;

export const approvalSchema = z.strictObject({
  decisions: decisionsSchema.default([...DEFAULT_DECISIONS]),
  description: z.string().max(10_000).optional(),
});

/** What becomes of an error that a tool throws. message: the model is told; fail: the run fails with TOOL_ERROR. */
export const TOOL_ERROR_ACTIONS = ["message", "fail"] as const;
export const toolErrorsSchema = z.strictObject({
  default: z.enum(TOOL_ERROR_ACTIONS).default("message"),
  tools: z.record(toolPatternSchema, z.enum(TOOL_ERROR_ACTIONS)).default({}),
});

/** Model turns of one activation when a policy names neither turns nor a limit of model calls. */
export const DEFAULT_MODEL_TURNS = 50;

export const policyFields = {
  modelCalls: modelCallsSchema.optional(),
  toolCalls: z.array(toolCallsSchema).default([]),
  modelRetry: modelRetrySchema.default(modelRetrySchema.parse({})),
  toolRetry: z.array(toolRetrySchema).default([]),
  approvals: z.record(toolPatternSchema, z.union([z.boolean(), approvalSchema])).default({}),
  /** Tools that are started at most once for one tool call, across crashes. */
  once: z.array(toolPatternSchema).default([]),
  /** Rules of redaction; libs/redaction reads them. */
  pii: z.array(z.record(z.string(), z.unknown())).default([]),
  /** How often the model may be asked in one activation before RECURSION_LIMIT; the graph's own limit follows. */
  modelTurns: z.int().min(1).max(10_000).optional(),
  /** The graph's limit of steps, for graphs that need one of their own. */
  recursionLimit: z.int().min(2).max(100_000).optional(),
  toolErrors: toolErrorsSchema.default(toolErrorsSchema.parse({})),
};

export const policyDataSchema = z.strictObject(policyFields);
/** What a policy file holds. */
export type PolicyData = z.input<typeof policyDataSchema>;

/** Whether a tool's name fits a pattern. */
export function matchesTool(pattern: string, name: string): boolean {
  if (!pattern.includes("*")) return pattern === name;
  const parts = pattern.split("*").map((part) => part.replace(/[.\\+?^${}()|[\]-]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(name);
}
