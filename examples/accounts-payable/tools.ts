import { createHash } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { type ToolRuntime, tool } from "langchain";
import { z } from "zod";
import { INVOICES, RATES, VENDORS } from "./erp.js";

/** The rates come from a service that is away now and then. */
export class ConnectionFailed extends Error {
  override readonly name = "ConnectionFailed";
}
export class ServiceTimeout extends Error {
  override readonly name = "ServiceTimeout";
}

export const lookupInvoice = tool(
  ({ invoice }) => JSON.stringify(INVOICES[invoice] ?? { error: "There is no such invoice." }),
  {
    name: "lookup_invoice",
    description: "Gives vendor, amount and currency of an invoice.",
    schema: z.object({ invoice: z.string() }),
  },
);

export const searchVendor = tool(
  ({ text }) => {
    const found = VENDORS.filter(({ id, name }) =>
      `${id} ${name}`.toLowerCase().includes(text.toLowerCase()),
    );
    return JSON.stringify(found);
  },
  {
    name: "search_vendor",
    description: "Finds vendors in the master data by number or name.",
    schema: z.object({ text: z.string() }),
  },
);

const failed = new Set<string>();

/** Fails once for each call with DROVER_AP_FLAKY set, so that a trial shows the retry. */
export const lookupExchangeRate = tool(
  ({ currency }, { toolCallId }: ToolRuntime) => {
    if (process.env.DROVER_AP_FLAKY && !failed.has(toolCallId)) {
      failed.add(toolCallId);
      throw new ConnectionFailed("The service of rates did not answer.");
    }
    return JSON.stringify({ currency, idr: RATES[currency] ?? null });
  },
  {
    name: "lookup_exchange_rate",
    description: "Gives rupiah for one unit of a currency.",
    schema: z.object({ currency: z.string().length(3) }),
  },
);

const line = z.object({
  account: z.string(),
  debit: z.number().nonnegative().default(0),
  credit: z.number().nonnegative().default(0),
});

/**
 * Posts an entry. With DROVER_AP_LEDGER set, one line of JSON is appended to that file: the effect that must not
 * happen twice.
 */
export const postJournalEntry = tool(
  async (entry, runtime: ToolRuntime) => {
    const debit = entry.lines.reduce((sum, { debit }) => sum + debit, 0);
    const credit = entry.lines.reduce((sum, { credit }) => sum + credit, 0);
    if (debit !== credit) return JSON.stringify({ error: `Debit ${debit} and credit ${credit} differ.` });
    const entryId = `JE-${createHash("sha256").update(JSON.stringify(entry)).digest("hex").slice(0, 10)}`;
    const ledger = process.env.DROVER_AP_LEDGER;
    if (ledger) {
      const effect = { entryId, ...entry, thread: runtime.configurable?.thread_id ?? null };
      await appendFile(ledger, `${JSON.stringify(effect)}\n`);
    }
    return JSON.stringify({ entryId });
  },
  {
    name: "post_journal_entry",
    description: "Posts one journal entry in rupiah. Debit and credit must be equal.",
    schema: z.object({
      posting_date: z.iso.date(),
      description: z.string(),
      lines: z.array(line).min(2),
    }),
  },
);
