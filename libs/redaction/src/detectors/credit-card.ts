import { isDigit, wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { passesGtin, passesLuhn } from "./checksums.js";
import { DigitRuns, Link } from "./digit-runs.js";
import { isIssued } from "./issuers.js";
import { Labels } from "./labels.js";

/** How cards are printed: the sizes of the groups. The longest comes first, so that 19 digits are one card. */
const GROUPINGS = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 4, 4, 1],
  [4, 4, 5],
  [4, 6, 5],
  [4, 6, 4],
  [8, 8],
  [6, 13],
];

const CARD_WORDS = /card|visa|master|amex|kartu|debit|credit|kredit|(?<![a-z])(?:pan|cc)(?![a-z])/gi;
const CARD_FILLER =
  /^(?:s|ending)?[\s"':.#()/=-]*(?:(?:no|nos|num|number|nomor|is|was|card|credit|debit)[\s"':.#()=-]*){0,3}$/i;
const OTHER_WORDS =
  /(?<![a-z])(?:ref|reference|inv|invoice|receipt|rcpt|bill|order|barcode|ean|upc|sku|gst|gstin|tax|vat|npwp|reg|registration|tracking|trace|serial|s\/n|batch|doc|document|transaction|trans|trx|txn|imei|approval|slip)(?![a-z])/gi;
const OTHER_FILLER = /^[ \t"':.#()/=-]*(?:(?:no|num|number|id|code|nbr)[ \t"':.#()=-]*){0,2}$/i;
/** What follows the barcode of an item on a receipt: a quantity or a price, in columns. */
const ITEM_COLUMNS = /^ {1,8}\d{1,4}(?:[.,]\d{2,3})?(?![\d/])/;

/**
 * Card numbers: 13 to 19 digits, printed as cards are, in an issuer's range, with Luhn's check digit. A barcode (13
 * or 14 digits with a GTIN check digit, or in front of a price) or a reference number that passes all three is none,
 * unless a word such as `card` stands before it.
 */
export function detectCreditCard(text: string): Match[] {
  return new CardSearch(text).run();
}

class CardSearch {
  readonly #text: string;
  readonly #runs: DigitRuns;
  readonly #cardLabels: Labels;
  readonly #otherLabels: Labels;

  constructor(text: string) {
    this.#text = text;
    this.#runs = new DigitRuns(text);
    this.#cardLabels = new Labels(text, CARD_WORDS, CARD_FILLER);
    this.#otherLabels = new Labels(text, OTHER_WORDS, OTHER_FILLER);
  }

  run(): Match[] {
    const matches: Match[] = [];
    for (let i = 0; i < this.#runs.count; ) {
      const count = this.#cardAt(i);
      if (count > 0) matches.push({ start: this.#runs.start(i), end: this.#runs.end(i + count - 1) });
      i += Math.max(count, 1);
    }
    return matches;
  }

  /** How many runs from i on are one card; 0 for none. */
  #cardAt(i: number): number {
    const size = this.#runs.size(i);
    if (size > 19) return 0;
    if (size >= 13) return this.#isSingleCard(i) ? 1 : 0;
    if (!this.#runs.isLinked(i + 1)) return 0;
    if (size === 4 || size === 6 || size === 8) {
      for (const sizes of GROUPINGS) {
        if (
          this.#runs.haveSizes(i, sizes) &&
          this.#isCard(i, sizes.length) &&
          this.#isFree(i, sizes.length)
        ) {
          return sizes.length;
        }
      }
    }
    return this.#cardLabels.standBefore(this.#runs.start(i)) ? this.#oddlyGrouped(i) : 0;
  }

  /** Behind a label any grouping will do: the fewest runs from i on that are a card. */
  #oddlyGrouped(i: number): number {
    let size = 0;
    for (let k = i; size < 19 && (k === i || this.#runs.isLinked(k)); k++) {
      size += this.#runs.size(k);
      if (size >= 13 && size <= 19 && this.#isCard(i, k - i + 1)) return k - i + 1;
    }
    return 0;
  }

  #isSingleCard(i: number): boolean {
    if (!this.#isCard(i, 1) || !this.#isFree(i, 1)) return false;
    const start = this.#runs.start(i);
    const end = this.#runs.end(i);
    if (this.#cardLabels.standBefore(start)) return true;
    if (
      end - start <= 14 &&
      (passesGtin(this.#text, start, end) || ITEM_COLUMNS.test(this.#text.slice(end, end + 20)))
    ) {
      return false;
    }
    return !this.#otherLabels.standBefore(start);
  }

  #isCard(i: number, count: number): boolean {
    const start = this.#runs.start(i);
    const end = this.#runs.end(i + count - 1);
    if (!passesLuhn(this.#text, start, end)) return false;
    let prefix = 0;
    let size = 0;
    for (let at = start; at < end; at++) {
      const code = this.#text.charCodeAt(at);
      if (!isDigit(code)) continue;
      if (size < 6) prefix = prefix * 10 + code - 48;
      size++;
    }
    return isIssued(prefix, size);
  }

  /** Not part of a word, of a decimal (`0.4111…`) or of a longer number that hyphens hold together. */
  #isFree(i: number, count: number): boolean {
    const start = this.#runs.start(i);
    if (wordBeginsAt(this.#text, this.#runs.end(i + count - 1))) return false;
    if (wordEndsAt(this.#text, start) && !this.#cardLabels.standBefore(start)) return false;
    if (this.#isTight(this.#runs.link(i), start - 1)) return false;
    const after = this.#runs.link(i + count);
    if (!this.#isTight(after, this.#runs.start(i + count) - 1)) return true;
    return after === Link.HYPHEN && this.#runs.size(i + count) <= 4;
  }

  /** A hyphen or point right at the digits, without a space. */
  #isTight(link: Link, at: number): boolean {
    return link === Link.POINT || (link === Link.HYPHEN && this.#text.charAt(at) !== " ");
  }
}
