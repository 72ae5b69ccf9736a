import { wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { passesGtin, passesLuhn } from "./checksums.js";
import { type DigitChain, digitChains, digitsOf, lengthOf, separatorBefore } from "./digit-chain.js";
import { isIssued } from "./issuers.js";
import { Labels } from "./labels.js";

/** How cards are printed: the lengths of the groups. The longest comes first, so that 19 digits are one card. */
const GROUPINGS = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 5],
  [4, 4, 4, 1],
  [8, 8],
  [6, 13],
];

const CARD_WORDS = /card|visa|master|amex|kartu|debit|credit|kredit|\bpan\b|\bcc\b/gi;
const CARD_FILLER =
  /^(?:s|ending)?[\s"':.#()/=-]*(?:(?:no|nos|num|number|nomor|is|was|card|credit|debit)[\s"':.#()=-]*){0,3}$/i;
const OTHER_WORDS =
  /\b(?:ref|reference|inv|invoice|receipt|rcpt|bill|order|barcode|ean|upc|sku|gst|gstin|tax|vat|npwp|reg|registration|tracking|trace|serial|s\/n|batch|doc|document|transaction|trans|trx|txn|imei|approval|slip)\b/gi;
const OTHER_FILLER = /^[ \t"':.#()/=-]*(?:(?:no|num|number|id|code|nbr)[ \t"':.#()=-]*){0,2}$/i;

/** What follows the barcode of an item on a receipt: a quantity or a price, in columns. */
const ITEM_COLUMNS = /^ {1,8}\d{1,4}(?:[.,]\d{2,3})?(?![\d/])/;

/**
 * Card numbers: 13 to 19 digits, printed as cards are, in an issuer's range, with Luhn's check digit. A barcode (13
 * or 14 digits with a GTIN check digit) or a reference number that passes all three is none, unless a word such as
 * `card` stands before it.
 */
export function detectCreditCard(text: string): Match[] {
  const matches: Match[] = [];
  const cardLabels = new Labels(text, CARD_WORDS, CARD_FILLER);
  const otherLabels = new Labels(text, OTHER_WORDS, OTHER_FILLER);
  for (const chain of digitChains(text)) {
    for (let i = 0; i < chain.starts.length; ) {
      const runs = cardRunsAt(text, chain, i, cardLabels, otherLabels);
      if (runs > 0) matches.push({ start: chain.starts[i] ?? 0, end: chain.ends[i + runs - 1] ?? 0 });
      i += Math.max(runs, 1);
    }
  }
  return matches;
}

/** How many runs from i on are one card; 0 for none. */
function cardRunsAt(text: string, chain: DigitChain, i: number, card: Labels, other: Labels): number {
  const length = lengthOf(chain, i);
  if (length >= 13 && length <= 19) return isSingleCard(text, chain, i, card, other) ? 1 : 0;
  if (length > 8) return 0;
  for (const grouping of GROUPINGS) {
    if (grouping.every((size, k) => i + k < chain.starts.length && lengthOf(chain, i + k) === size)) {
      if (
        isFree(text, chain, i, grouping.length, card) &&
        isCard(digitsOf(text, chain, i, i + grouping.length))
      ) {
        return grouping.length;
      }
    }
  }
  return card.standBefore(chain.starts[i] ?? 0) ? oddlyGrouped(text, chain, i) : 0;
}

/** Behind a label any grouping will do: the shortest one from run i on that is a card. */
function oddlyGrouped(text: string, chain: DigitChain, i: number): number {
  let digits = "";
  for (let k = i; k < chain.starts.length && digits.length < 19; k++) {
    digits += text.slice(chain.starts[k], chain.ends[k]);
    if (digits.length >= 13 && digits.length <= 19 && isCard(digits)) return k - i + 1;
  }
  return 0;
}

function isSingleCard(text: string, chain: DigitChain, i: number, card: Labels, other: Labels): boolean {
  const digits = digitsOf(text, chain, i, i + 1);
  if (!isCard(digits) || !isFree(text, chain, i, 1, card)) return false;
  const start = chain.starts[i] ?? 0;
  if (card.standBefore(start)) return true;
  if (
    digits.length <= 14 &&
    (passesGtin(digits) || ITEM_COLUMNS.test(text.slice(chain.ends[i], (chain.ends[i] ?? 0) + 20)))
  )
    return false;
  return !other.standBefore(start);
}

function isCard(digits: string): boolean {
  return isIssued(digits) && passesLuhn(digits);
}

/** Not part of a word, of a decimal (`0.4111…`) or of a longer number that hyphens hold together. */
function isFree(text: string, chain: DigitChain, i: number, runs: number, card: Labels): boolean {
  const start = chain.starts[i] ?? 0;
  const end = chain.ends[i + runs - 1] ?? 0;
  if (wordBeginsAt(text, end)) return false;
  if (wordEndsAt(text, start) && !card.standBefore(start)) return false;
  const before = separatorBefore(text, chain, i);
  if (before === "." || before === "-") return false;
  const after = i + runs < chain.starts.length ? separatorBefore(text, chain, i + runs) : "";
  if (after === ".") return false;
  return after !== "-" || lengthOf(chain, i + runs) <= 4;
}
