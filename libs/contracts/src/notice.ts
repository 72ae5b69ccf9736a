import { z } from "zod";
import type { ErrorInfo } from "./errors.js";
import type { ActionRequest } from "./interrupt.js";
import type { EndedBy, FinalStatus } from "./run.js";
import type { Usage } from "./usage.js";

/** Drover's own queues: nobody's replies go there. */
export const OWN_QUEUES = ["runs", "inbox", "webhooks"] as const;

/** The name of a BullMQ queue that a sender reads, under the same prefix as the inbox. */
export const replyQueueSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, "use 1 to 64 letters, digits, '_', '.' or '-', a letter first")
  .refine(
    (name) => !(OWN_QUEUES as readonly string[]).includes(name),
    "this queue is Drover's own; name one of yours",
  );

/** Where a run's notices are posted. */
export const webhookSchema = z.strictObject({
  /** http or https, without a user or password: secrets never enter Redis. */
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .refine(
      (url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url),
      "a URL with a password is refused; the signature is the proof",
    ),
  /** The name of the key in the workers' DROVER_SERVICE_KEYS with which requests are signed. */
  key: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/)
    .default("webhook"),
});
export type Webhook = z.output<typeof webhookSchema>;

/** Who is told what becomes of a run. */
export const notifyFields = {
  replyTo: replyQueueSchema.optional(),
  webhook: webhookSchema.optional(),
  /** Comes back in every notice. A run that a message started has the message's id here unless it names another. */
  correlationId: z.string().min(1).max(256).optional(),
};
export const notifySchema = z.object(notifyFields);
export type Notify = z.output<typeof notifySchema>;

/** Who is told of runs that name nobody themselves: of a batch, or of an agent. */
export const noticeDefaultsSchema = z.strictObject({
  replyTo: replyQueueSchema.optional(),
  webhook: webhookSchema.optional(),
});
export type NoticeDefaults = z.output<typeof noticeDefaultsSchema>;

export const NOTICE_TYPES = ["request.admitted", "request.refused", "run.interrupted", "run.final"] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

/** A question to a human, as a notice shows it. */
export interface AskedApproval {
  approvalId: string;
  interruptId: string;
  actions: ActionRequest[] | null;
  value: unknown;
  /** Milliseconds since 1970; null where it waits for ever. */
  expiresAt: number | null;
  /** Who may answer; null where anybody may. */
  assignees: string[] | null;
}

interface NoticeHead {
  v: 1;
  /** The same notice has the same id however often it comes: handle each once. */
  id: string;
  tenant: string;
  correlationId: string | null;
  /** Milliseconds since 1970 by Redis's clock. */
  at: number;
}

interface RunNoticeHead extends NoticeHead {
  runId: string;
  threadId: string;
  agent: string;
}

/** What a sender is told, on its queue or by a webhook. At least once, in no promised order. */
export type Notice =
  | (RunNoticeHead & {
      type: "request.admitted";
      /** run.start, run.resume, run.cancel or run.retry. */
      request: string;
      /** The run that a new one waits behind, if its thread was busy. */
      behind: string | null;
    })
  | (NoticeHead & { type: "request.refused"; request: string | null; error: ErrorInfo })
  | (RunNoticeHead & { type: "run.interrupted"; approvals: AskedApproval[] })
  | (RunNoticeHead & {
      type: "run.final";
      status: FinalStatus;
      endedBy: EndedBy | null;
      error: ErrorInfo | null;
      /** The agent's output; null where the run has none, or where `outputOmitted` says that it is too large. */
      output: unknown;
      outputOmitted: boolean;
      usage: Usage;
    });
