import {
  approvalSchema,
  type DecisionType,
  modelRetrySchema,
  type OnExpire,
  type PolicyData,
  parseOrThrow,
  piiRuleSchema,
  policyFields,
  summarizationSchema,
  type timeLimitsSchema,
  toolEmulatorSchema,
  toolErrorsSchema,
  toolPatternSchema,
  toolRetrySchema,
  toolSelectorSchema,
} from "@drover/contracts";
import type { BaseMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { ToolCallRequest } from "langchain";
import { z } from "zod";
import { isModelSpec, type ModelSpec } from "../agent/model-spec.js";
import { renamedAction, renamedSummarization } from "./deprecated.js";
import { isRetryOn, type RetryOn } from "./retry-on.js";

/** What a policy's functions are told about one tool call: LangChain's own shape, `tool` left out. */
export type CallInQuestion = Omit<ToolCallRequest, "tool">;

export type WhenPredicate = (request: CallInQuestion) => boolean | Promise<boolean>;
export type Describe = (
  toolCall: ToolCall,
  state: CallInQuestion["state"],
  runtime: CallInQuestion["runtime"],
) => string | Promise<string>;
/** Refuses a call before it is offered for approval and before it runs: the text tells the model why. */
export type Guard = (request: CallInQuestion) => string | undefined | Promise<string | undefined>;
/** The text that the model is given instead of an answer. */
export type OnFailure = (error: Error) => string;
/** The text that the model is given; undefined lets the run fail. */
export type OnToolError = (error: Error, toolCall: ToolCall) => string | undefined;
export type TokenCounter = (messages: BaseMessage[]) => number | Promise<number>;
/** Where a text matches, as LangChain's piiMiddleware takes it. */
export type PiiDetector = (content: string) => readonly { start: number; end: number; text?: string }[];

const fn = <T>(what: string) => z.custom<T>((value) => typeof value === "function", `is a function: ${what}`);

type FailureAction = "error" | "continue" | OnFailure;

const isFailureAction = (value: unknown) =>
  value === "error" || value === "continue" || typeof value === "function";

const onFailure = (byDefault: "error" | "continue") =>
  z
    .preprocess(
      renamedAction,
      z.custom<FailureAction>(isFailureAction, "is 'error', 'continue' or (error) => the text for the model"),
    )
    .default(byDefault);
const retryOn = z
  .custom<RetryOn>(isRetryOn, "is a function: (error) => whether to try again, or a list of error classes")
  .optional();

const modelRetry = modelRetrySchema.extend({ onFailure: onFailure("error"), retryOn });

/** A tool may be named by itself. */
const toolName = z.preprocess(
  (value) => (typeof value === "object" && value !== null && "name" in value ? value.name : value),
  toolPatternSchema,
);

const model = z
  .custom<ModelSpec>(isModelSpec, "is 'provider:model', { model, ...options } or a chat model's instance")
  .optional();

const detector = z
  .custom<string | RegExp | PiiDetector>(
    (value) => ["string", "function"].includes(typeof value) || value instanceof RegExp,
    "is a pattern, a RegExp or (content) => matches",
  )
  .optional();

const policySchema = z.strictObject({
  ...policyFields,
  modelRetry: modelRetry.default(modelRetry.parse({})),
  toolRetry: z
    .array(
      toolRetrySchema.extend({
        tools: z.array(toolName).min(1, "name at least one tool, or leave 'tools' out").optional(),
        onFailure: onFailure("continue"),
        retryOn,
      }),
    )
    .default([]),
  approvals: z
    .record(
      toolPatternSchema,
      z.preprocess(
        (value) => (typeof value === "boolean" ? (value ? {} : null) : value),
        approvalSchema
          .extend({
            description: z
              .custom<string | Describe>(
                (value) => typeof value === "string" || typeof value === "function",
                "is a text or (toolCall, state, runtime) => text",
              )
              .optional(),
            when: fn<WhenPredicate>("(request) => whether to ask").optional(),
          })
          .nullable(),
      ),
    )
    .default({}),
  guards: z.record(toolPatternSchema, fn<Guard>("(request) => why not, or undefined")).default({}),
  toolErrors: toolErrorsSchema
    .extend({ onError: fn<OnToolError>("(error, toolCall) => text, or undefined to fail").optional() })
    .default({ ...toolErrorsSchema.parse({}) }),
  pii: z.array(piiRuleSchema.extend({ detector })).max(100).default([]),
  summarization: z
    .preprocess(
      renamedSummarization,
      summarizationSchema.extend({
        model,
        tokenCounter: fn<TokenCounter>("(messages) => tokens").optional(),
      }),
    )
    .optional(),
  toolSelector: toolSelectorSchema.extend({ model }).optional(),
  toolEmulator: toolEmulatorSchema.extend({ model, tools: z.array(toolName).optional() }).optional(),
});

/** A policy with every default in its place. */
export type EffectivePolicy = Omit<z.output<typeof policySchema>, "timeLimits"> & {
  timeLimits?: TimeLimits | undefined;
};

export type TimeLimits = z.output<typeof timeLimitsSchema> & {
  /** What a fleet says of tools, by name or pattern: holds beside what the agent says of them. */
  toolCeilings?: Record<string, number>;
};

/** Of an activation as a whole, and of its steps. */
export type Times = Pick<TimeLimits, "runMs" | "stepMs">;

/** What `defineAgent` takes: the data of a policy file, and functions where a file can have none. */
export type Policy = Omit<PolicyData, keyof WithCode> & WithCode;

interface WithCode {
  modelRetry?: WithFunctions<NonNullable<PolicyData["modelRetry"]>> | undefined;
  toolRetry?: WithTools<WithFunctions<NonNullable<PolicyData["toolRetry"]>[number]>>[] | undefined;
  approvals?: Record<string, boolean | Approval> | undefined;
  guards?: Record<string, Guard> | undefined;
  toolErrors?: (NonNullable<PolicyData["toolErrors"]> & { onError?: OnToolError | undefined }) | undefined;
  pii?: PiiRule[] | undefined;
  summarization?:
    | (WithModel<NonNullable<PolicyData["summarization"]>> & {
        tokenCounter?: TokenCounter | undefined;
        /** @deprecated `trigger: { tokens }` */
        maxTokensBeforeSummary?: number | undefined;
        /** @deprecated `keep: { messages }` */
        messagesToKeep?: number | undefined;
      })
    | undefined;
  toolSelector?: WithModel<NonNullable<PolicyData["toolSelector"]>> | undefined;
  toolEmulator?: WithTools<WithModel<NonNullable<PolicyData["toolEmulator"]>>> | undefined;
}

/** The rule of a file, or one with code as its detector. */
export type PiiRule = Omit<z.input<typeof piiRuleSchema>, "detector"> & {
  detector?: string | RegExp | PiiDetector | undefined;
};

type WithModel<T> = Omit<T, "model"> & { model?: ModelSpec | undefined };
type WithTools<T> = Omit<T, "tools"> & { tools?: (string | { name: string })[] | undefined };

type WithFunctions<T> = Omit<T, "onFailure"> & {
  onFailure?: FailureAction | undefined;
  retryOn?: RetryOn | undefined;
};

export interface Approval {
  /** Default: approve, edit, reject. */
  decisions?: DecisionType[] | undefined;
  description?: string | Describe | undefined;
  /** Asked for each call; default: every call needs a decision. */
  when?: WhenPredicate | undefined;
  /** Who may answer; default: anybody. */
  assignees?: string[] | undefined;
  /** Milliseconds for which it waits; default: for ever. */
  expiresMs?: number | undefined;
  /** Default: reject. */
  onExpire?: OnExpire | undefined;
  /** Who is asked, for as long again, before `onExpire` is done; default: nobody. */
  escalateTo?: string[] | undefined;
}

/** Throws INVALID_POLICY with the path of every wrong key. */
export function parsePolicy(policy: unknown): EffectivePolicy {
  return parseOrThrow(policySchema, policy ?? {}, "policy", "INVALID_POLICY");
}
