import { z } from "zod";
import { DECISION_TYPES, ON_EXPIRE } from "./interrupt.js";
import { MESSAGE_TYPES } from "./message.js";
import { noticeDefaultsSchema } from "./notice.js";
import { piiRulesSchema } from "./pii.js";

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
  /** Each wait is the one before times this; 0 and 1 leave it as it is. */
  backoffFactor: z.number().min(0).max(10).default(2),
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

const limitMs = z
  .int()
  .min(1, "a time limit is a millisecond or more")
  .max(86_400_000, "a time limit is a day at most");

export const timeLimitFields = {
  /** One activation: from when a worker takes the run until it ends, asks somebody or is handed over. */
  runMs: limitMs.optional(),
  /** One step of the graph: an answer of the model, or all tools that it asked for, with their retries. */
  stepMs: limitMs.optional(),
  /** One execution of a tool; `"*"` for all that are not named. */
  tools: z.record(toolPatternSchema, limitMs).default({}),
};

/** How long things may take, in milliseconds. What is left out may take any time. */
export const timeLimitsSchema = z.strictObject({
  ...timeLimitFields,
  /** error: the run ends with TOOL_TIMEOUT; continue: as if the tool had thrown. A tool marked once ends the run. */
  onToolLimit: z.enum(["error", "continue"]).default("error"),
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
  /** Who may answer: names of people, or of services that sign their messages. Anybody if left out. */
  assignees: z.array(z.string().min(1).max(256)).min(1, "name at least one, or leave it out").optional(),
  /** Milliseconds for which a question waits. For ever if left out. */
  expiresMs: z
    .int()
    .min(1000, "is a second or more")
    .max(365 * 86_400_000)
    .optional(),
  /** What becomes of a question whose time is over. fail: the run ends with APPROVAL_EXPIRED. */
  onExpire: z.enum(ON_EXPIRE).default("reject"),
  /** Who is asked, for as long again, when the time is over the first time; `onExpire` is done after the second. */
  escalateTo: z.array(z.string().min(1).max(256)).min(1, "name at least one, or leave it out").optional(),
});

/** About questions that are no tool calls: a graph's own `interrupt(value)`. */
export const questionsSchema = z.strictObject({
  assignees: approvalSchema.shape.assignees,
  expiresMs: approvalSchema.shape.expiresMs,
  escalateTo: approvalSchema.shape.escalateTo,
  /** fail: the run ends with APPROVAL_EXPIRED; or the answer that is given in a person's place. */
  onExpire: z.union([z.literal("fail"), z.strictObject({ answer: z.json() })]).default("fail"),
});

/** What becomes of an error that a tool throws. message: the model is told; fail: the run fails with TOOL_ERROR. */
export const TOOL_ERROR_ACTIONS = ["message", "fail"] as const;
export const toolErrorsSchema = z.strictObject({
  default: z.enum(TOOL_ERROR_ACTIONS).default("message"),
  tools: z.record(toolPatternSchema, z.enum(TOOL_ERROR_ACTIONS)).default({}),
});

const modelNameSchema = z.string().regex(/^[^:\s]+:\S+$/, "is 'provider:model'");

const share = z.number().gt(0, "is above 0").max(1, "is 1 at most");
const contextSizeFields = {
  /** Of the model's context, by its profile or by `maxInputTokens`. */
  fraction: share.optional(),
  tokens: z.int().positive().optional(),
  messages: z.int().positive().optional(),
};
const sizesIn = (size: object) => Object.values(size).filter((value) => value !== undefined).length;

/** All that is set must be reached; of several in a list, one is enough. */
export const contextSizeSchema = z
  .strictObject(contextSizeFields)
  .refine((size) => sizesIn(size) > 0, "set fraction, tokens or messages");

export const keepSizeSchema = z
  .strictObject(contextSizeFields)
  .refine((size) => sizesIn(size) === 1, "set one of fraction, tokens and messages");

/** Older messages are replaced by a summary in what the model is sent; the thread keeps them. */
export const summarizationSchema = z.strictObject({
  /** Default: the agent's own model. */
  model: modelNameSchema.optional(),
  /** Without one, only a context that the provider refuses as too long is summarised. */
  trigger: z.union([contextSizeSchema, z.array(contextSizeSchema).min(1)]).optional(),
  keep: keepSizeSchema.default({ messages: 20 }),
  /** Holds `{messages}`. */
  summaryPrompt: z.string().includes("{messages}").optional(),
  summaryPrefix: z.string().default("Here is a summary of the conversation to date:"),
  /** The newest tokens of what is summarised that the summariser is sent; the goal comes on top. */
  trimTokensToSummarize: z.int().positive().default(4000),
  /** The model's context in tokens, for `fraction`, where LangChain knows no profile of the model. */
  maxInputTokens: z.int().positive().optional(),
});

/** A model chooses the tools that the agent's model is shown. */
export const toolSelectorSchema = z.strictObject({
  /** Default: the agent's own model. */
  model: modelNameSchema.optional(),
  systemPrompt: z
    .string()
    .default("Your goal is to select the most relevant tools for answering the user's query."),
  maxTools: z.int().min(1).optional(),
  /** Shown whatever is chosen, and not counted. */
  alwaysInclude: z.array(toolPatternSchema).default([]),
});

/** A model answers in a tool's place: for tests and demonstrations. */
export const toolEmulatorSchema = z.strictObject({
  /** All tools if left out; none if empty. */
  tools: z.array(toolPatternSchema).optional(),
  /** Default: the agent's own model. */
  model: modelNameSchema.optional(),
});

/** The tool `write_todos` and how the model is told of it. */
export const todoListSchema = z.strictObject({
  systemPrompt: z.string().optional(),
  toolDescription: z.string().optional(),
});

/** Model turns of one activation when a policy names neither turns nor a limit of model calls. */
export const DEFAULT_MODEL_TURNS = 50;

export const signedMessagesSchema = z.array(z.enum(MESSAGE_TYPES)).default([]);

export const policyFields = {
  modelCalls: modelCallsSchema.optional(),
  toolCalls: z.array(toolCallsSchema).default([]),
  modelRetry: modelRetrySchema.default(modelRetrySchema.parse({})),
  toolRetry: z.array(toolRetrySchema).default([]),
  timeLimits: timeLimitsSchema.optional(),
  approvals: z.record(toolPatternSchema, z.union([z.boolean(), approvalSchema])).default({}),
  questions: questionsSchema.optional(),
  /** Tools that are started at most once for one tool call, across crashes. */
  once: z.array(toolPatternSchema).default([]),
  /** Who is told of each run of the agent, unless the run or its batch names somebody. */
  notify: noticeDefaultsSchema.optional(),
  /** Kinds of message to the inbox that are refused without a signature, about the agent and its runs. */
  signedMessages: signedMessagesSchema,
  /** Rules of redaction. */
  pii: piiRulesSchema.default([]),
  summarization: summarizationSchema.optional(),
  toolSelector: toolSelectorSchema.optional(),
  toolEmulator: toolEmulatorSchema.optional(),
  todoList: z.union([z.boolean(), todoListSchema]).default(false),
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
