import { z } from "zod";
import { DEFAULT_TENANT, nameSchema } from "./ids.js";
import { decisionSchema } from "./interrupt.js";
import { replyQueueSchema } from "./notice.js";
import { runRequestSchema } from "./request.js";

/** What other services put on the queue `inbox`, from any language that has a BullMQ client. */
export const MESSAGE_TYPES = ["run.start", "run.resume", "run.cancel", "run.retry"] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Chosen by the sender. The same id is the same message, however often it is sent. */
export const messageIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,128}$/, "use 1 to 128 letters, digits, '_', '.' or '-'");

/** What becomes of an approval whose agent changed since it was asked: refused, or answered on the new version. */
export const VERSION_MISMATCH_ACTIONS = ["refuse", "resume"] as const;

const envelope = {
  v: z.literal(1),
  id: messageIdSchema,
  tenant: nameSchema.default(DEFAULT_TENANT),
  /** A queue of the sender's, which is told what became of this message. */
  replyTo: replyQueueSchema.optional(),
};
const runId = z.string().min(1).max(64);

const startSchema = z.strictObject({
  ...envelope,
  type: z.literal("run.start"),
  request: runRequestSchema.omit({ tenant: true }),
});

const resumeSchema = z
  .strictObject({
    ...envelope,
    type: z.literal("run.resume"),
    /** The approval that is answered; or the run and LangGraph's own id of the interrupt. */
    approvalId: z.string().min(1).max(64).optional(),
    runId: runId.optional(),
    interruptId: z.string().min(1).max(256).optional(),
    /** One decision for each tool call of the question, in order. */
    decisions: z.array(decisionSchema).min(1).optional(),
    /** The answer to a question that is not about tool calls. */
    value: z.unknown().optional(),
    decidedBy: z.string().min(1).max(256).optional(),
    comment: z.string().max(10_000).optional(),
    onVersionMismatch: z.enum(VERSION_MISMATCH_ACTIONS).default("refuse"),
  })
  .refine((m) => (m.approvalId !== undefined) !== (m.runId !== undefined && m.interruptId !== undefined), {
    message: "name the approval by 'approvalId', or by 'runId' and 'interruptId'",
  })
  .refine((m) => (m.decisions !== undefined) !== "value" in m, {
    message: "answer with 'decisions' or with 'value'",
  });

const cancelSchema = z.strictObject({
  ...envelope,
  type: z.literal("run.cancel"),
  runId,
  reason: z.string().max(10_000).optional(),
});

const retrySchema = z.strictObject({ ...envelope, type: z.literal("run.retry"), runId });

export const messageSchema = z.discriminatedUnion("type", [
  startSchema,
  resumeSchema,
  cancelSchema,
  retrySchema,
]);
/** What a sender writes. */
export type InboxMessage = z.input<typeof messageSchema>;
export type AcceptedMessage = z.output<typeof messageSchema>;

/**
 * A message with a proof of who sent it. `signed` is the message's JSON as text, so that both sides look at the same
 * bytes; the signature is HMAC-SHA256 of `<timestamp>.<signed>` by the key of that name, as `v1,<base64>`.
 */
export const signedMessageSchema = z.strictObject({
  v: z.literal(1),
  signed: z.string().min(2),
  key: nameSchema,
  /** Seconds since 1970. */
  timestamp: z.int().min(0),
  signature: z.string().regex(/^v1,[A-Za-z0-9+/]{43}=$/, "use 'v1,' and the base64 of an HMAC-SHA256"),
});
export type SignedMessage = z.output<typeof signedMessageSchema>;
