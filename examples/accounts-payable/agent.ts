import { defineAgent } from "@drover/runtime";
import { debitOf, needsApproval } from "./approval.js";
import { closedPeriod } from "./closed-period.js";
import { ErpContext } from "./context.js";
import { OFFLINE } from "./offline-rules.js";
import {
  ConnectionFailed,
  lookupExchangeRate,
  lookupInvoice,
  postJournalEntry,
  ServiceTimeout,
  searchVendor,
} from "./tools.js";

/**
 * An accounts-payable assistant with the guardrails that an ERP needs. The policy says what holds; Drover puts it
 * into the right order, which `drover agents show accounts-payable` prints and agent.test.ts asserts.
 */
export const agent = defineAgent({
  name: "accounts-payable",
  version: "1",
  description: "Looks up invoices and vendors and posts journal entries; finance approves large ones.",
  model: process.env.DROVER_AP_MODEL ?? OFFLINE,
  fallbacks: [process.env.DROVER_AP_FALLBACK ?? OFFLINE],
  systemPrompt: "You are an accounts-payable assistant for PT Contoh.",
  tools: [lookupInvoice, searchVendor, lookupExchangeRate, postJournalEntry],
  contextSchema: ErpContext,
  policy: {
    pii: [
      // Tool results too: a vendor's master data holds e-mail addresses.
      { type: "email", strategy: "redact", applyToInput: true, applyToToolResults: true },
      // The Indonesian identity number: the last digits stay, so that a person can still match it.
      {
        type: "nik",
        detector: "\\b\\d{16}\\b",
        strategy: "mask",
        applyToInput: true,
        applyToOutput: true,
        applyToToolResults: true,
      },
      // A card's number is never right in a conversation about invoices.
      { type: "credit_card", strategy: "block", applyToInput: true },
    ],
    // Stops a loop; the agent ends with what it has.
    modelCalls: { run: 12 },
    modelRetry: { maxRetries: 2, initialDelayMs: 1000, backoffFactor: 2 },
    toolRetry: [{ tools: [lookupExchangeRate], maxRetries: 3, retryOn: [ConnectionFailed, ServiceTimeout] }],
    toolCalls: [
      { run: 20 },
      { tool: "search_vendor", run: 5 },
      // The tool with a side effect: more than that is an alert, not something to negotiate about.
      { tool: "post_journal_entry", run: 1, thread: 3, onLimit: "error" },
    ],
    guards: { post_journal_entry: closedPeriod },
    approvals: {
      post_journal_entry: {
        decisions: ["approve", "edit", "reject"],
        when: needsApproval,
        description: ({ args }) =>
          `Journal entry awaiting finance approval: ${String(args.description)}, ${debitOf(args)} IDR on ${String(args.posting_date)}.`,
      },
      lookup_invoice: false,
    },
    once: ["post_journal_entry"],
  },
});
