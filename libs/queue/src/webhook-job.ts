import type { Notice, Webhook } from "@drover/contracts";
import { type Codec, openJson, sealJson } from "@drover/state";
import type { JobsOptions } from "bullmq";

export const WEBHOOKS_QUEUE = "webhooks";

/** One notice that is to be posted: what lists need of it, and all of it as JSON, encrypted where the fleet encrypts. */
export type WebhookJob = Webhook & {
  about: { id: string; tenant: string; type: Notice["type"]; runId: string | null };
  notice: string;
};

export function webhookJob(webhook: Webhook, notice: Notice, codec: Codec | undefined): WebhookJob {
  const { id, tenant, type } = notice;
  const runId = "runId" in notice ? notice.runId : null;
  return { ...webhook, about: { id, tenant, type, runId }, notice: sealJson(notice, codec) };
}

export function noticeIn({ notice }: WebhookJob, codec: Codec | undefined): Notice {
  return openJson(notice, codec) as Notice;
}

/** Tries in all: after 1, 2, 4, … 1024 seconds, more than half an hour together. */
export const WEBHOOK_ATTEMPTS = 12;

/** What could not be delivered is kept for a week, to be looked at and sent again. */
export const webhookOptions: JobsOptions = {
  attempts: WEBHOOK_ATTEMPTS,
  backoff: { type: "exponential", delay: 1000, jitter: 0.25 },
  removeOnComplete: { age: 3600, count: 10_000 },
  removeOnFail: { age: 7 * 86_400, count: 10_000 },
};
