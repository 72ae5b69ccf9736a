import { z } from "zod";
import { nameSchema, threadIdSchema } from "./ids.js";

/** One delivery on the queue: it points to an activation, the store holds the truth about it. */
export const pointerSchema = z.strictObject({
  tenant: nameSchema,
  threadId: threadIdSchema,
  runId: z.string().min(1).max(64),
  seq: z.int().min(1),
  /** 1 for the first delivery of the activation; higher when the queue lost an earlier one. */
  delivery: z.int().min(1),
});
export type Pointer = z.output<typeof pointerSchema>;

/** A pointer with what the queue needs to order it. */
export interface Dispatch extends Pointer {
  delayMs: number;
  /** When the delay began, in milliseconds by Redis's clock. Default: now, by the clock of this process. */
  from?: number;
  priority: number;
}
