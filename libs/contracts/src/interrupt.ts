import { z } from "zod";

export const DECISION_TYPES = ["approve", "edit", "reject", "respond"] as const;
export type DecisionType = (typeof DECISION_TYPES)[number];

/** One tool call that waits for a human. */
export interface ActionRequest {
  name: string;
  args: Record<string, unknown>;
  description: string;
  allowedDecisions: DecisionType[];
}

/** A question of a graph to a human: either tool calls that wait for a decision each, or a free value. */
export interface InterruptQuestion {
  /** LangGraph's id of the interrupt. */
  interruptId: string;
  /** Present where the question is about tool calls. */
  actions: ActionRequest[] | null;
  /** The value of a plain `interrupt(value)`. */
  value: unknown;
  /** What the policy says about answering it; left out where it says nothing. */
  terms?: ApprovalTerms;
}

/** What becomes of an approval that nobody answers in time. */
export const ON_EXPIRE = ["reject", "approve", "fail"] as const;
export type OnExpire = (typeof ON_EXPIRE)[number];

export interface ApprovalTerms {
  /** Who may answer: names of people, or of services that sign their messages. Null: anybody. */
  assignees: string[] | null;
  /** Milliseconds for which it waits. Null: for ever. */
  expiresMs: number | null;
  onExpire: OnExpire;
  /** What a question that is not about tools is answered with in a person's place; left out: the run fails. */
  expiryAnswer?: unknown;
  /** Who is asked next, for as long again, before `onExpire` is done. Left out: nobody. */
  escalateTo?: string[];
  /** True once it was passed on to them. */
  isEscalated?: boolean;
}

/** How an answer came: by a program that has this Redis, the command line, HTTP, a message, or the end of its time. */
export const DOORS = ["client", "cli", "http", "message", "expiry"] as const;

/** What is kept about an answer beside the answer itself. */
export interface ApprovalAudit {
  door: (typeof DOORS)[number];
  /** The service that signed the message; null for an unsigned one or another door. */
  service: string | null;
  /** False: `decidedBy` is a claim that nobody vouches for. */
  verified: boolean;
  messageId: string | null;
}

export interface Approval extends InterruptQuestion {
  approvalId: string;
  tenant: string;
  threadId: string;
  runId: string;
  agent: string;
  agentVersion: string;
  /** expired: its time was over, and what its policy says for that case was done. */
  status: "pending" | "answered" | "expired" | "discarded";
  createdAt: number;
  /** Milliseconds since 1970; null where it waits for ever. */
  expiresAt: number | null;
  answeredAt: number | null;
  answer: Answer | null;
  /** Null while it waits. */
  audit: ApprovalAudit | null;
}

export const decisionSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("approve") }),
  z.strictObject({
    type: z.literal("edit"),
    editedAction: z.strictObject({ name: z.string().min(1), args: z.record(z.string(), z.unknown()) }),
  }),
  z.strictObject({ type: z.literal("reject"), message: z.string().max(10_000).optional() }),
  z.strictObject({ type: z.literal("respond"), message: z.string().max(100_000) }),
]);
export type Decision = z.output<typeof decisionSchema>;

/** The answer to one approval: a decision for each action, in order, or a value for a plain interrupt. */
export const answerSchema = z.union([
  z.strictObject({
    decisions: z.array(decisionSchema).min(1),
    decidedBy: z.string().max(256).optional(),
    comment: z.string().max(10_000).optional(),
  }),
  z.strictObject({
    value: z.unknown(),
    decidedBy: z.string().max(256).optional(),
    comment: z.string().max(10_000).optional(),
  }),
]);
export type Answer = z.output<typeof answerSchema>;
