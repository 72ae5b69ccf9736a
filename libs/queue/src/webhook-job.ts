import type { Notice, Webhook } from "@drover/contracts";
import type { JobsOptions } from "bullmq";

export const WEBHOOKS_QUEUE = "webhooks";

/** One notice that is to be posted. */
export type WebhookJob = Webhook & { notice: Notice };

/** Tries in all: after 1, 2, 4, … 1024 seconds, more than half an hour together. */
export const WEBHOOK_ATTEMPTS = 12;

/** What could not be delivered is kept for a week, to be looked at and sent again. */
export const webhookOptions: JobsOptions = {
  attempts: WEBHOOK_ATTEMPTS,
  backoff: { type: "exponential", delay: 1000, jitter: 0.25 },
  removeOnComplete: { age: 3600, count: 10_000 },
  removeOnFail: { age: 7 * 86_400, count: 10_000 },
};
