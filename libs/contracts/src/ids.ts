import { createHash, randomUUID } from "node:crypto";
import { z } from "zod";

/** A name that people give: an agent, a tenant, a tag. Bounded, so that it can be a metric's label. */
export const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, "use 1 to 64 letters, digits, '_', '.' or '-'");

/** A thread id: any well-formed text of 1 to 256 characters without control characters. */
export const threadIdSchema = z
  .string()
  .min(1, "a thread id has at least one character")
  .max(256, "a thread id has at most 256 characters")
  .refine((id) => id.isWellFormed(), "a thread id is well-formed Unicode")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses
  .refine((id) => !/[\u0000-\u001f\u007f]/.test(id), "a thread id has no control characters");

export const DEFAULT_TENANT = "default";

export const newRunId = (): string => randomUUID();
export const newThreadId = (): string => randomUUID();
export const newBatchId = (): string => `batch_${randomUUID().replaceAll("-", "").slice(0, 20)}`;

/** A UUID that follows from its parts: the same idempotency key gives the same run and thread. */
export function derivedUuid(...parts: string[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * An approval's id: follows from what it asks about, so that storing it twice is once. The activation is part of it,
 * since two questions of one node, one after the other, have one id in LangGraph.
 */
export function approvalId(runId: string, seq: number, interruptId: string): string {
  return `apr_${derivedUuid(runId, String(seq), interruptId).replaceAll("-", "").slice(0, 20)}`;
}
