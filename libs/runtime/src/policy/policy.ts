import {
  approvalSchema,
  type DecisionType,
  modelRetrySchema,
  type PolicyData,
  parseOrThrow,
  policyFields,
  toolErrorsSchema,
  toolPatternSchema,
  toolRetrySchema,
} from "@drover/contracts";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { ToolCallRequest } from "langchain";
import { z } from "zod";

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
/** Sees the true cause of a failure, never a wrapper. */
export type RetryOn = (error: Error) => boolean;
/** The text that the model is given instead of an answer. */
export type OnFailure = (error: Error) => string;
/** The text that the model is given; undefined lets the run fail. */
export type OnToolError = (error: Error, toolCall: ToolCall) => string | undefined;

const fn = <T>(what: string) => z.custom<T>((value) => typeof value === "function", `is a function: ${what}`);

/** The older names of `onFailure`, which still work and warn. */
const OLDER_NAMES: Record<string, string> = { raise: "error", return_message: "continue" };

function renamed(value: unknown): unknown {
  const name = typeof value === "string" ? OLDER_NAMES[value] : undefined;
  if (name === undefined) return value;
  process.emitWarning(`onFailure '${String(value)}' is now '${name}'.`, "DeprecationWarning");
  return name;
}

type FailureAction = "error" | "continue" | OnFailure;

const isFailureAction = (value: unknown) =>
  value === "error" || value === "continue" || typeof value === "function";

const onFailure = (byDefault: "error" | "continue") =>
  z
    .preprocess(
      renamed,
      z.custom<FailureAction>(isFailureAction, "is 'error', 'continue' or (error) => the text for the model"),
    )
    .default(byDefault);
const retryOn = fn<RetryOn>("(error) => whether to try again").optional();

const modelRetry = modelRetrySchema.extend({ onFailure: onFailure("error"), retryOn });

const policySchema = z.strictObject({
  ...policyFields,
  modelRetry: modelRetry.default(modelRetry.parse({})),
  toolRetry: z.array(toolRetrySchema.extend({ onFailure: onFailure("continue"), retryOn })).default([]),
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
});

/** A policy with every default in its place. */
export type EffectivePolicy = z.output<typeof policySchema>;

/** What `defineAgent` takes: the data of a policy file, and functions where a file can have none. */
export type Policy = Omit<PolicyData, "modelRetry" | "toolRetry" | "approvals" | "toolErrors"> & {
  modelRetry?: WithFunctions<NonNullable<PolicyData["modelRetry"]>> | undefined;
  toolRetry?: WithFunctions<NonNullable<PolicyData["toolRetry"]>[number]>[] | undefined;
  approvals?: Record<string, boolean | Approval> | undefined;
  guards?: Record<string, Guard> | undefined;
  toolErrors?: (NonNullable<PolicyData["toolErrors"]> & { onError?: OnToolError | undefined }) | undefined;
};

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
}

/** Throws INVALID_POLICY with the path of every wrong key. */
export function parsePolicy(policy: unknown): EffectivePolicy {
  return parseOrThrow(policySchema, policy ?? {}, "policy", "INVALID_POLICY");
}
