import { createHash } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { type ToolRuntime, tool } from "langchain";
import { z } from "zod";

export const Expense = z.object({
  company: z.string(),
  date: z.string().nullish(),
  address: z.string().nullish(),
  amount: z.number(),
  currency: z.string().nullish(),
  vendorId: z.string().nullish(),
});

/** The number of a posting: the same expense has the same number, wherever and whenever it is posted. */
export function postingIdOf(expense: z.infer<typeof Expense>): string {
  const { company, date, address, amount, currency, vendorId } = expense;
  const fields = [company, date ?? null, address ?? null, amount, currency ?? null, vendorId ?? null];
  return `P-${createHash("sha256").update(JSON.stringify(fields)).digest("hex").slice(0, 12)}`;
}

/**
 * Posts an expense. With DROVER_RECEIPTS_LEDGER set, one line of JSON is appended to that file: the effect that
 * must not happen twice. The policy marks the tool `once`.
 */
export const postExpense = tool(
  async (expense, runtime: ToolRuntime) => {
    const postingId = postingIdOf(expense);
    const ledger = process.env.DROVER_RECEIPTS_LEDGER;
    if (ledger) {
      const entry = {
        postingId,
        ...expense,
        threadId: runtime.configurable?.thread_id ?? null,
        toolCallId: runtime.toolCallId,
      };
      await appendFile(ledger, `${JSON.stringify(entry)}\n`);
    }
    return JSON.stringify({ postingId });
  },
  {
    name: "post_expense",
    description: "Posts one expense to the ledger. Call it once for a receipt, and only if it shows a total.",
    schema: Expense,
  },
);
