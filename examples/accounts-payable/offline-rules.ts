import { registerOfflineRules } from "@drover/runtime";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";

/** The model of this example for a trial without a key: rules, not a language model. */
export const OFFLINE = "offline:accounts-payable";

/**
 * `Post INV-1001 on 2026-09-15`: looks the invoice and its vendor up, the rate too if it is not in rupiah, posts the
 * entry and reports. What else is asked is answered with that sentence.
 */
registerOfflineRules("accounts-payable", (messages) => {
  const start = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  const [, invoice, date] = /post (INV-\d+) on (\d{4}-\d{2}-\d{2})/i.exec(textAt(messages, start)) ?? [];
  if (!invoice || !date) return { content: "Say for example: Post INV-1001 on 2026-09-15." };
  const results = resultsAfter(messages.slice(start + 1));

  const looked = results.get("lookup_invoice");
  if (!looked) return call("lookup_invoice", { invoice });
  const { vendor, amount, currency } = fieldsOf(looked);
  if (typeof amount !== "number") return { content: `Nothing was posted: ${invoice} is not known.` };

  if (!results.has("search_vendor")) return call("search_vendor", { text: vendor });
  const rate = results.get("lookup_exchange_rate");
  if (currency !== "IDR" && !rate) return call("lookup_exchange_rate", { currency });

  const posted = results.get("post_journal_entry");
  if (posted)
    return {
      content:
        posted.status === "error"
          ? `Nothing was posted. ${posted.text}`
          : `Posted ${invoice}: ${posted.text}`,
    };
  const rupiah = amount * Number(rate ? fieldsOf(rate).idr : 1);
  const lines = [
    { account: "6100 freight and services", debit: rupiah, credit: 0 },
    { account: "2100 accounts payable", debit: 0, credit: rupiah },
  ];
  return call("post_journal_entry", {
    posting_date: date,
    description: `${invoice} of ${String(vendor)}`,
    lines,
  });
});

const call = (name: string, args: Record<string, unknown>) => ({ toolCalls: [{ name, args }] });

function textAt(messages: readonly BaseMessage[], index: number): string {
  return messages[index]?.text ?? "";
}

/** The newest answer of each tool. */
function resultsAfter(messages: readonly BaseMessage[]): Map<string, ToolMessage> {
  const names = new Map<string, string>();
  const results = new Map<string, ToolMessage>();
  for (const message of messages) {
    if (AIMessage.isInstance(message))
      for (const { id = "", name } of message.tool_calls ?? []) names.set(id, name);
    if (ToolMessage.isInstance(message)) results.set(names.get(message.tool_call_id) ?? "", message);
  }
  return results;
}

function fieldsOf(message: ToolMessage): Record<string, unknown> {
  try {
    return JSON.parse(message.text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
