import { z } from "zod";
import { concurrencyKeySchema, concurrencyLimitSchema } from "./concurrency.js";
import { DEFAULT_TENANT, nameSchema, threadIdSchema } from "./ids.js";
import { notifyFields } from "./notice.js";

/**
 * What happens to a run whose thread is busy. `interrupt` cancels the unfinished run and goes on after it; `rollback`
 * also takes back what that run did to the thread's state, and begins where that one had begun.
 */
export const MULTITASK_STRATEGIES = ["enqueue", "reject", "interrupt", "rollback"] as const;
export type MultitaskStrategy = (typeof MULTITASK_STRATEGIES)[number];

/** What a run that another one replaces is told; undefined where the strategy replaces nothing. */
export function replacementReason(strategy: MultitaskStrategy): string | undefined {
  if (strategy === "interrupt") return "Another run took its place.";
  if (strategy === "rollback") {
    return "Another run took its place, and what this one did to the thread was taken back.";
  }
  return undefined;
}

/** Keys that only an agent's policy may set: a caller who sends one is refused, never silently ignored. */
export const RESERVED_KEY =
  /^(?:threadLimit|runLimit|interruptOn|applyTo(?:Input|Output|ToolResults)|exitBehavior|(?:thread|run)(?:Model|Tool)CallCount|__.*|lc_.*|checkpoint_.*)$/;

const jsonObject = z.record(z.string(), z.unknown());

function refuseReserved(value: Record<string, unknown>, context: z.RefinementCtx): void {
  for (const key of Object.keys(value)) {
    if (RESERVED_KEY.test(key)) {
      context.addIssue({
        code: "custom",
        path: [key],
        params: { code: "RESERVED_KEY" },
        message: `'${key}' can be set by the agent's policy only; leave it out`,
      });
    }
  }
}

/**
 * A request to run an agent. Everything in it is JSON. Dates in `context` travel as `{ $date: "ISO 8601" }`,
 * credentials as `{ $credential: "NAME" }`, which the worker resolves from its own environment.
 */
export const runRequestSchema = z.strictObject({
  agent: nameSchema,
  /** Given to the graph as it is; a string is one human message. */
  input: z.union([z.string(), jsonObject.superRefine(refuseReserved)]),
  tenant: nameSchema.default(DEFAULT_TENANT),
  /** A new thread if left out. */
  threadId: threadIdSchema.optional(),
  /** The same key and request give the same run; the same key with another request is refused. */
  idempotencyKey: z.string().min(1).max(256).optional(),
  /** 0 runs first, 10 last; orders runs of different threads, never runs of one thread. */
  priority: z.int().min(0).max(10).default(5),
  /** Milliseconds to wait before the run may start. The thread's later runs wait behind it. */
  delayMs: z
    .int()
    .min(0)
    .max(365 * 86_400_000)
    .default(0),
  /** Milliseconds from acceptance after which the run ends with the status timeout, whatever it does. */
  deadlineMs: z
    .int()
    .min(1)
    .max(365 * 86_400_000)
    .optional(),
  /** How often the run is tried in all, from its last checkpoint, when it fails by a fault that may pass. */
  maxAttempts: z.int().min(1).max(20).default(3),
  multitaskStrategy: z.enum(MULTITASK_STRATEGIES).default("enqueue"),
  /** The tenant's runs with the same key are worked on one at a time, or as many as a limit says. */
  concurrencyKey: concurrencyKeySchema.optional(),
  /** How many at a time; the newest run's word holds for its key. The fleet's policy may say less. Default 1. */
  concurrencyLimit: concurrencyLimitSchema.optional(),
  tags: z.array(nameSchema).max(20).default([]),
  metadata: jsonObject.default({}),
  /** The agent's runtime context. */
  context: jsonObject.superRefine(refuseReserved).default({}),
  /** What is kept for readers that follow the run, beside its changes of state. */
  streamMode: z.array(z.enum(["updates", "messages", "custom"])).default([]),
  batchId: z.string().max(64).optional(),
  /** The document's name in its batch. */
  document: z.string().max(1024).optional(),
  /** W3C trace context of who asks: the run's spans become a part of that trace. */
  traceparent: z
    .string()
    .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
    .optional(),
  ...notifyFields,
});

/** What a caller writes. */
export type RunRequest = z.input<typeof runRequestSchema>;
/** The same with every default in its place. */
export type AcceptedRequest = z.output<typeof runRequestSchema>;
