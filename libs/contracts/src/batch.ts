import { z } from "zod";
import { DEFAULT_TENANT, nameSchema } from "./ids.js";
import { type NoticeDefaults, noticeDefaultsSchema } from "./notice.js";
import type { RunStatus } from "./run.js";
import type { Usage } from "./usage.js";

export const batchRequestSchema = z.strictObject({
  batchId: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
  tenant: nameSchema.default(DEFAULT_TENANT),
  agent: nameSchema,
  metadata: z.record(z.string(), z.unknown()).default({}),
  /** Who is told of each of its runs that names nobody itself. Default: whom the runs' agents name. */
  notify: noticeDefaultsSchema.optional(),
});
export type BatchRequest = z.input<typeof batchRequestSchema>;

/** Runs that belong together. Reading one costs the same however many runs it has. */
export interface Batch {
  batchId: string;
  tenant: string;
  agent: string;
  metadata: Record<string, unknown>;
  /** Who is told of its runs; left out where the batch names nobody. */
  notify?: NoticeDefaults | undefined;
  /** open: runs are still added; sealed: all were added. */
  sealed: boolean;
  paused: boolean;
  cancelled: boolean;
  total: number;
  counts: Record<RunStatus, number>;
  usage: Usage;
  createdAt: number;
  startedAt: number | null;
  /** When the last run became final, once the batch is sealed. */
  finishedAt: number | null;
}
