import { z } from "zod";

/** What the clerk answers for one receipt; null where the receipt doesn't say. */
export const Receipt = z
  .object({
    company: z.string().nullable().describe("The firm that issued the receipt, as printed."),
    date: z.string().nullable().describe("The day of the purchase, YYYY-MM-DD."),
    address: z.string().nullable().describe("The firm's address on one line."),
    total: z.number().nullable().describe("What was paid, after rounding, in the receipt's currency."),
    currency: z.string().nullable().describe("ISO 4217 code, if the receipt names a currency."),
    vendorId: z.string().nullable().describe("From lookup_vendor; null if the vendor is not registered."),
    postingId: z.string().nullable().describe("From post_expense; null if nothing was posted."),
    note: z.string().nullable().describe("Why nothing was posted; null if it was."),
  })
  .meta({ title: "receipt" });

export type Receipt = z.infer<typeof Receipt>;

/** What a caller may set for a run of the clerk. */
export const Context = z.object({
  /** From this amount on, in the book's currency, a person approves the posting. Default 500. */
  approvalThreshold: z.number().nonnegative().optional(),
  /** Decides which vendor look-ups fail. Default 7. */
  seed: z.int().optional(),
});

export type Context = z.infer<typeof Context>;

/** The part of the runtime context that the clerk knows, whatever else is in it. */
export function contextOf(runtime: { context?: unknown } | undefined): Context {
  const parsed = Context.safeParse(runtime?.context ?? {});
  return parsed.success ? parsed.data : {};
}
