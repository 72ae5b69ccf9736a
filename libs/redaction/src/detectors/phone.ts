import { isDigit, isWord, wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { passesGtin } from "./checksums.js";
import { type DigitChain, digitChains, digitsOf, lengthOf, separatorBefore } from "./digit-chain.js";
import { Labels } from "./labels.js";
import { isCallingCode, longestNumber, nationalRuns } from "./phone-groupings.js";

const PHONE_WORDS =
  /(?:(?<![a-z])(?:tel|tei|telp|telephone|telefon|telepon|telpon|phone|ph|fax|faks|hp(?![0-9])|h\/p|hand\s?phone|mobile|mob|cell|cellphone|whats\s?apps?|wa|sms|call|contact|ponsel|enquir(?:y|ies)|inquir(?:y|ies)|inquries)|phone|hot\s?line|care\s?l[il]ne|\u7535\u8bdd|\u624b\u673a|\u4f20\u771f)(?![a-z])/gi;
const PHONE_FILLER =
  /^[\s"'\\:;.,=*&|/)(#x-]*(?:(?:no|nos|num|number|nomor|line|us|at|on|is|my|or|me|x)(?![a-z])[\s"'\\:;.,=*&|/)(#-]*){0,3}$/i;
const OTHER_WORDS =
  /(?<![a-z])(?:ref|reference|inv|invoice|taxinv|receipt|rcpt|bill|order|ord|barcode|ean|upc|sku|gst|gstin|tax|vat|npwp|reg|registration|tracking|serial|s\/n|batch|doc|document|transaction|trans|trx|txn|slip|item|code|date|roc)(?![a-z])/gi;
const OTHER_FILLER = /^[ \t"':.#()/=-]*(?:(?:no|num|number|id|code|nbr)[ \t"':.#()=-]*){0,2}$/i;
const BETWEEN_NUMBERS = /^[ \t]*(?:[/,;|&]|or|and|atau|dan)[ \t]*\(?\+?\(?$/i;
const SHORT_EXTENSION = /\/\d{2,5}(?![\d/])/y;
const TOLL_FREE = /^1[- ]?[38]00[- ]\d{2,3}$/;
const VANITY = /[- ][A-Z]{3,7}(?![A-Za-z])(?:[ ]?\(\d{3,7}\))?/y;

/**
 * Phone and fax numbers, where there is evidence that they are: a `+`, a word such as TEL before them (or as the
 * key over them), another number before them on the line, or a grouping in which phone numbers are written.
 * Dates, amounts and barcodes have none of these.
 */
export function detectPhone(text: string, label = ""): Match[] {
  const prefix = label === "" ? "" : `${label.replace(/([a-z])([A-Z])|_/g, "$1 $2")}: `;
  return new PhoneSearch(prefix + text)
    .run()
    .filter((match) => match.end > prefix.length)
    .map(({ start, end }) => ({ start: Math.max(start - prefix.length, 0), end: end - prefix.length }));
}

class PhoneSearch {
  readonly #text: string;
  readonly #phoneLabels: Labels;
  readonly #otherLabels: Labels;
  readonly #matches: Match[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#phoneLabels = new Labels(text, PHONE_WORDS, PHONE_FILLER);
    this.#otherLabels = new Labels(text, OTHER_WORDS, OTHER_FILLER);
  }

  run(): Match[] {
    for (const chain of digitChains(this.#text)) {
      for (let i = 0; i < chain.starts.length; ) {
        const runs = this.#runsAt(chain, i);
        if (runs > 0) this.#add(chain, i, runs);
        i += Math.max(runs, 1);
      }
    }
    return this.#matches;
  }

  /** How many runs from i on are one phone number; 0 for none. */
  #runsAt(chain: DigitChain, i: number): number {
    if (this.#isInternational(chain, i)) return this.#greedyRuns(chain, i, 8);
    const start = chain.starts[i] ?? 0;
    const national = this.#nationalRuns(chain, i);
    if (national === 0 && this.#greedyRuns(chain, i, 6) === 0) return 0;
    if (this.#phoneLabels.standBefore(start) || this.#followsNumber(start)) {
      return Math.max(this.#greedyRuns(chain, i, 6), national);
    }
    return national > 0 && !this.#otherLabels.standBefore(start) ? national : 0;
  }

  /** `+60…`, `(+60…`, `+(60…`: not the sum `2+60123456`. */
  #isInternational(chain: DigitChain, i: number): boolean {
    const text = this.#text;
    let at = (chain.starts[i] ?? 0) - 1;
    if (text.charAt(at) === "(" || text.charAt(at) === " ") at--;
    if (text.charAt(at) !== "+") return false;
    return !wordEndsAt(text, at) && isCallingCode(text.slice(chain.starts[i], chain.ends[i]));
  }

  /** From run i on as many runs as one number can have, of at least `least` digits and not running into a date. */
  #greedyRuns(chain: DigitChain, i: number, least: number): number {
    const most = longestNumber(
      this.#text.slice(chain.starts[i], chain.ends[i]),
      this.#text.charAt((chain.starts[i] ?? 0) - 1),
    );
    let digits = 0;
    let runs = 0;
    for (let k = i; k < chain.starts.length; k++) {
      const separator = separatorBefore(this.#text, chain, k);
      if (k > i && digits >= 7 && (separator.length > 2 || separator === "  " || separator.includes("(")))
        break;
      if (k > i && digits >= 6 && this.#beginsDateOrAmount(chain, k)) break;
      digits += lengthOf(chain, k);
      if (digits > most) break;
      if (digits >= least) runs = k - i + 1;
    }
    return runs > 0 && this.#isFree(chain, i, runs) && !this.#isDate(chain, i, runs) ? runs : 0;
  }

  #nationalRuns(chain: DigitChain, i: number): number {
    for (const runs of nationalRuns(this.#text, chain, i)) {
      if (this.#isFree(chain, i, runs) && !this.#isPartOfMore(chain, i, runs)) return runs;
    }
    return 0;
  }

  #beginsDateOrAmount(chain: DigitChain, k: number): boolean {
    const end = chain.ends[k] ?? 0;
    const next = this.#text.charAt(end);
    if (lengthOf(chain, k) <= 4 && (next === "/" || next === ":") && isDigit(this.#text.charCodeAt(end + 1)))
      return true;
    return (
      k + 1 < chain.starts.length &&
      separatorBefore(this.#text, chain, k + 1) === "." &&
      lengthOf(chain, k + 1) === 2
    );
  }

  /** 25-12-2018 and 2018.12.25 behind a label such as CONTACT. */
  #isDate(chain: DigitChain, i: number, runs: number): boolean {
    const shape = Array.from({ length: Math.min(runs, 3) }, (_, k) => lengthOf(chain, i + k)).join("-");
    return runs >= 3 && (shape === "2-2-4" || shape === "4-2-2");
  }

  #isFree(chain: DigitChain, i: number, runs: number): boolean {
    const start = chain.starts[i] ?? 0;
    if (wordBeginsAt(this.#text, chain.ends[i + runs - 1] ?? 0)) return false;
    return !wordEndsAt(this.#text, start) || this.#phoneLabels.standBefore(start);
  }

  /** A grouping that only is the middle of something longer: 12-03-12345678, A/03-12345678, 1.03-12345678. */
  #isPartOfMore(chain: DigitChain, i: number, runs: number): boolean {
    const start = chain.starts[i] ?? 0;
    const end = chain.ends[i + runs - 1] ?? 0;
    const before = this.#text.charAt(start - 1);
    if ((before === "-" || before === "/" || before === ".") && isWord(this.#text.charCodeAt(start - 2)))
      return true;
    const after = this.#text.charAt(end);
    return (after === "-" || after === ".") && isDigit(this.#text.charCodeAt(end + 1));
  }

  /** `07-5547360 / 016-7993391`, `603-40232487, 40238191`. */
  #followsNumber(start: number): boolean {
    const last = this.#matches.at(-1);
    return (
      last !== undefined && start - last.end <= 12 && BETWEEN_NUMBERS.test(this.#text.slice(last.end, start))
    );
  }

  #add(chain: DigitChain, i: number, runs: number): void {
    let start = chain.starts[i] ?? 0;
    let end = chain.ends[i + runs - 1] ?? 0;
    while (start > 0 && "+(".includes(this.#text.charAt(start - 1))) start--;
    if (this.#text.charAt(start - 1) === " " && this.#text.charAt(start - 2) === "+") start -= 2;
    const tail = TOLL_FREE.test(this.#text.slice(start, end)) ? VANITY : SHORT_EXTENSION;
    tail.lastIndex = end;
    end += tail.exec(this.#text)?.[0].length ?? 0;
    const digits = digitsOf(this.#text, chain, i, i + runs);
    if (runs === 1 && digits.length >= 12 && passesGtin(digits) && !this.#phoneLabels.standBefore(start))
      return;
    this.#matches.push({ start, end });
  }
}
