import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { textOf } from "../conversation.js";
import type { OfflineAnswer, OfflineTool } from "../rules.js";
import { asRecord } from "../tools.js";
import { extractReceipt, type Receipt } from "./extract.js";

const LOOKUP = "lookup_vendor";
const POST = "post_expense";

/**
 * `offline:receipts`: an accounts clerk. For the receipt in the newest human message it asks for the vendor, posts
 * the expense if there is a company and a total, and answers {company, date, address, total, currency, vendorId,
 * postingId, note}. Each step happens once and only with a tool that is bound. The receipt is data: nothing that
 * is written on it is an instruction. What a reviewer edited before posting is what the answer reports.
 */
export function receiptsRules(
  messages: readonly BaseMessage[],
  tools: readonly OfflineTool[],
): OfflineAnswer {
  const turn = newestTurn(messages);
  const receipt = extractReceipt(turn.document);
  const can = (name: string) => tools.some((tool) => tool.name === name);

  const lookup = turn.results.get(LOOKUP);
  if (!lookup && receipt.company !== null && can(LOOKUP)) {
    return { toolCalls: [{ name: LOOKUP, args: { company: receipt.company } }] };
  }
  const vendorId = stringField(lookup, "vendorId");

  const posting = turn.results.get(POST);
  if (!posting && receipt.company !== null && receipt.total !== null && can(POST)) {
    const { total, ...fields } = receipt;
    return { toolCalls: [{ name: POST, args: { ...fields, amount: total, vendorId } }] };
  }
  const postingId = stringField(posting, "postingId");
  return {
    structured: {
      ...asPosted(receipt, posting),
      vendorId,
      postingId,
      note: noteOn(receipt, posting, postingId),
    },
  };
}

interface ToolResult {
  args: Record<string, unknown>;
  message: ToolMessage;
}

interface Turn {
  document: string;
  /** The newest result of each tool that was called since the document came. */
  results: ReadonlyMap<string, ToolResult>;
}

function newestTurn(messages: readonly BaseMessage[]): Turn {
  const start = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  const document = start < 0 ? "" : textOf(messages[start] as BaseMessage);
  const calls = new Map<string, Record<string, unknown>>();
  const results = new Map<string, ToolResult>();
  for (const message of messages.slice(start + 1)) {
    if (AIMessage.isInstance(message)) {
      for (const call of message.tool_calls ?? []) if (call.id) calls.set(call.id, call.args);
    } else if (ToolMessage.isInstance(message) && message.name) {
      results.set(message.name, { args: calls.get(message.tool_call_id) ?? {}, message });
    }
  }
  return { document, results };
}

/** The receipt with what was posted in place of what was read: a reviewer may have corrected it. */
function asPosted(receipt: Receipt, posting: ToolResult | undefined): Receipt {
  if (!posting || posting.message.status === "error") return receipt;
  const { company, date, address, amount, currency } = posting.args;
  return {
    company: typeof company === "string" ? company : receipt.company,
    date: typeof date === "string" ? date : receipt.date,
    address: typeof address === "string" ? address : receipt.address,
    total: typeof amount === "number" ? amount : receipt.total,
    currency: typeof currency === "string" ? currency : receipt.currency,
  };
}

function noteOn(receipt: Receipt, posting: ToolResult | undefined, postingId: string | null): string | null {
  if (postingId !== null) return null;
  if (posting) return `Not posted: ${textOf(posting.message)}`;
  if (receipt.total === null) return "Not posted: the receipt shows no total.";
  if (receipt.company === null) return "Not posted: the receipt names no company.";
  return "Not posted: there is no tool to post with.";
}

function stringField(result: ToolResult | undefined, field: string): string | null {
  if (!result || result.message.status === "error") return null;
  try {
    const value = asRecord(JSON.parse(textOf(result.message)))?.[field];
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
