import { z } from "zod";
import { DECISION_TYPES } from "./interrupt.js";
import { FINAL_STATUSES } from "./run.js";

/**
 * What a sender is told, as its reader may check it: docs/notices.schema.json. Open where a later version of Drover may
 * say more without changing `v`: fields, codes and endings.
 */
const whole = z.int().min(0);
const head = {
  v: z.literal(1),
  id: z.string().describe("The same notice has the same id however often it comes."),
  tenant: z.string(),
  at: whole.describe("Milliseconds since 1970."),
  correlationId: z.string().nullable(),
};
const aboutRun = { ...head, runId: z.string(), threadId: z.string(), agent: z.string() };
const error = z.object({ code: z.string().regex(/^[A-Z][A-Z0-9_]+$/), message: z.string() });

const action = z.object({
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  description: z.string(),
  allowedDecisions: z.array(z.enum(DECISION_TYPES)).min(1),
});
const approval = z.object({
  approvalId: z.string(),
  interruptId: z.string(),
  actions: z
    .array(action)
    .nullable()
    .describe("Tool calls that want a decision each; null: answer with a value."),
  value: z.unknown().describe("What the graph asked."),
  expiresAt: whole.nullable().describe("Milliseconds since 1970; null: it waits for ever."),
  assignees: z.array(z.string()).nullable().describe("Who may answer; null: anybody."),
});
const usage = z.object({
  modelCalls: whole,
  toolCalls: whole,
  inputTokens: whole,
  outputTokens: whole,
  cachedTokens: whole.describe("A part of inputTokens."),
  reasoningTokens: whole.describe("A part of outputTokens."),
  costMicros: whole.describe("Millionths of a dollar; a lower bound while unpricedCalls is above 0."),
  unpricedCalls: whole,
});

export const noticeSchema = z.discriminatedUnion("type", [
  z.object({
    ...aboutRun,
    type: z.literal("request.admitted"),
    request: z.string().describe("The type of the message that was done."),
    behind: z.string().nullable().describe("The run that a new one waits behind."),
  }),
  z.object({ ...head, type: z.literal("request.refused"), request: z.string().nullable(), error }),
  z.object({ ...aboutRun, type: z.literal("run.interrupted"), approvals: z.array(approval) }),
  z.object({
    ...aboutRun,
    type: z.literal("run.final"),
    status: z.enum(FINAL_STATUSES),
    endedBy: z.string().nullable().describe("What ended the run, for example completed or model_call_limit."),
    error: error.nullable().describe("Null for success."),
    output: z.unknown(),
    outputOmitted: z.boolean().describe("True where the output is too large for a notice."),
    usage,
  }),
]);

/** The file's text. */
export function noticeSchemaText(): string {
  const { $schema, ...schema } = z.toJSONSchema(noticeSchema, { io: "input" });
  return `${JSON.stringify({ $schema, title: "A notice of Drover, version 1", ...schema }, null, 2)}\n`;
}
