import { z } from "zod";

/** What a caller sets for a run. A date travels as `{"$date": "2026-08-31"}`. */
export const ErpContext = z.object({
  userId: z.string(),
  company: z.string(),
  /** The last day of the last closed fiscal period. */
  closedUntil: z.date(),
});

export type ErpContext = z.infer<typeof ErpContext>;

/** Throws where a run has no context of this shape: a guard that can't see the date must not let a call pass. */
export function erpContextOf(runtime: { context?: unknown } | undefined): ErpContext {
  return ErpContext.parse(runtime?.context);
}
