import { createHmac } from "node:crypto";
import type { RedactionStrategy } from "@drover/contracts";

/** Types whose spelling varies for one and the same thing; a hash must not tell the spellings apart. */
const SPELLED_WITHOUT_SEPARATORS = new Set(["credit_card", "phone", "iban", "ssn", "nik", "mac_address"]);

/** What stands in the text instead of a match, in the forms of LangChain's piiMiddleware. `block` never gets here. */
export function replacementFor(
  type: string,
  strategy: Exclude<RedactionStrategy, "block">,
  text: string,
  hashKey: Uint8Array | undefined,
): string {
  switch (strategy) {
    case "redact":
      return `[REDACTED_${type.toUpperCase()}]`;
    case "hash":
      return `<${type}_hash:${keyedHash(type, text, hashKey)}>`;
    case "mask":
      return masked(type, text);
  }
}

function keyedHash(type: string, text: string, hashKey: Uint8Array | undefined): string {
  const spelling = SPELLED_WITHOUT_SEPARATORS.has(type) ? text.replace(/[^0-9A-Za-z]/g, "") : text;
  const value = type === "email" || SPELLED_WITHOUT_SEPARATORS.has(type) ? spelling.toLowerCase() : spelling;
  return createHmac("sha256", hashKey ?? "")
    .update(`${type}\0${value}`)
    .digest("hex")
    .slice(0, 8);
}

/**
 * Cards keep their last four digits, addresses their first letter and domain, everything else its last four
 * characters; but never more than half of what there is, where LangChain would show four of five.
 */
function masked(type: string, text: string): string {
  if (type === "credit_card") return `****-****-****-${text.replace(/\D/g, "").slice(-4)}`;
  if (type === "email") {
    const at = text.search(/@|%40/);
    return at > 0 ? `${text.charAt(0)}***@${text.slice(at).replace(/^(?:@|%40)/, "")}` : "***";
  }
  const visible = Math.min(4, Math.floor(text.length / 2));
  return "*".repeat(text.length - visible) + text.slice(text.length - visible);
}
