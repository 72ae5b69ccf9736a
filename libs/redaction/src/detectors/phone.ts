import { isDigit, isWord, wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { passesGtin } from "./checksums.js";
import { DigitRuns, Link } from "./digit-runs.js";
import { Labels } from "./labels.js";
import { isCallingCode, longestNumber } from "./phone-codes.js";
import { PhoneGroupings } from "./phone-groupings.js";
import { OTHER_FILLER, OTHER_WORDS, PHONE_FILLER, PHONE_WORDS } from "./phone-words.js";

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
  readonly #runs: DigitRuns;
  readonly #groupings: PhoneGroupings;
  readonly #phoneLabels: Labels;
  readonly #otherLabels: Labels;
  readonly #matches: Match[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#runs = new DigitRuns(text);
    this.#groupings = new PhoneGroupings(this.#runs);
    this.#phoneLabels = new Labels(text, PHONE_WORDS, PHONE_FILLER);
    this.#otherLabels = new Labels(text, OTHER_WORDS, OTHER_FILLER);
  }

  run(): Match[] {
    for (let i = 0; i < this.#runs.count; ) {
      const count = this.#phoneAt(i);
      if (count > 0) this.#add(i, count);
      i += Math.max(count, 1);
    }
    return this.#matches;
  }

  /** How many runs from i on are one phone number; 0 for none. */
  #phoneAt(i: number): number {
    if (this.#runs.size(i) > 15) return 0;
    const start = this.#runs.start(i);
    if (this.#isInternational(i)) return this.#greedy(i, 8);
    const hasDigits = this.#runs.size(i) >= 6 || this.#runs.isLinked(i + 1);
    const isLabelled = hasDigits && (this.#followsNumber(start) || this.#phoneLabels.standBefore(start));
    const count = this.#grouped(i);
    if (isLabelled) return Math.max(this.#greedy(i, 6), count);
    return count === 0 || this.#otherLabels.standBefore(start) || this.#isBarcode(i, count) ? 0 : count;
  }

  #grouped(i: number): number {
    if (this.#continuesWord(this.#runs.start(i))) return 0;
    const count = this.#groupings.at(i);
    return count > 0 && this.#isFree(i, count) && !this.#goesOn(this.#runs.end(i + count - 1)) ? count : 0;
  }

  /** `+60…`, `(+60…`, `+(60…`: not the sum `2+60123456`. */
  #isInternational(i: number): boolean {
    let at = this.#runs.start(i) - 1;
    const before = this.#text.charCodeAt(at);
    if (before === 40 || before === 32) at--;
    return (
      this.#text.charCodeAt(at) === 43 && !wordEndsAt(this.#text, at) && isCallingCode(this.#runs.run(i))
    );
  }

  /** From run i on as many runs as one number can have, of at least `least` digits and not running into a date. */
  #greedy(i: number, least: number): number {
    const size = this.#runs.size(i);
    if (!this.#runs.isLinked(i + 1) && (size < least || size <= 8)) {
      return size >= least && this.#isFree(i, 1) ? 1 : 0;
    }
    const most = longestNumber(this.#runs.run(i), this.#text.charCodeAt(this.#runs.start(i) - 1));
    let digits = 0;
    let count = 0;
    for (let k = i; k === i || this.#runs.isLinked(k); k++) {
      if (k > i && digits >= 6 && this.#beginsSomethingElse(k, digits)) break;
      digits += this.#runs.size(k);
      if (digits > most) break;
      if (digits >= least) count = k - i + 1;
    }
    return count > 0 && this.#isFree(i, count) && !(count === 3 && this.#isDate(i)) ? count : 0;
  }

  /** Run k, after at least six digits, belongs to a date, an amount or the next column. */
  #beginsSomethingElse(k: number, digits: number): boolean {
    const link = this.#runs.link(k);
    if (digits >= 7 && (link === Link.WIDE || link === Link.OPENING)) return true;
    const next = this.#text.charAt(this.#runs.end(k));
    if (
      this.#runs.size(k) <= 4 &&
      (next === "/" || next === ":") &&
      isDigit(this.#text.charCodeAt(this.#runs.end(k) + 1))
    ) {
      return true;
    }
    return this.#runs.link(k + 1) === Link.POINT && this.#runs.size(k + 1) === 2;
  }

  /** 25-12-2018 and 2018.12.25 behind a word such as CONTACT. */
  #isDate(i: number): boolean {
    return this.#runs.haveSizes(i, [2, 2, 4]) || this.#runs.haveSizes(i, [4, 2, 2]);
  }

  #isFree(i: number, count: number): boolean {
    if (wordBeginsAt(this.#text, this.#runs.end(i + count - 1))) return false;
    const start = this.#runs.start(i);
    return !wordEndsAt(this.#text, start) || this.#phoneLabels.standBefore(start);
  }

  /** Such a number is the end of something longer: 12-03-12345678, A/03-12345678, 1.03-12345678. */
  #continuesWord(start: number): boolean {
    const before = this.#text.charCodeAt(start - 1);
    return before >= 45 && before <= 47 && isWord(this.#text.charCodeAt(start - 2));
  }

  #goesOn(end: number): boolean {
    const after = this.#text.charCodeAt(end);
    return (after === 45 || after === 46) && isDigit(this.#text.charCodeAt(end + 1));
  }

  #isBarcode(i: number, count: number): boolean {
    const size = this.#runs.size(i);
    return count === 1 && size >= 12 && passesGtin(this.#text, this.#runs.start(i), this.#runs.end(i));
  }

  /** `07-5547360 / 016-7993391`, `603-40232487, 40238191`. */
  #followsNumber(start: number): boolean {
    const last = this.#matches.at(-1);
    return (
      last !== undefined && start - last.end <= 12 && BETWEEN_NUMBERS.test(this.#text.slice(last.end, start))
    );
  }

  #add(i: number, count: number): void {
    let start = this.#runs.start(i);
    let end = this.#runs.end(i + count - 1);
    while (start > 0 && "+(".includes(this.#text.charAt(start - 1))) start--;
    if (this.#text.charAt(start - 1) === " " && this.#text.charAt(start - 2) === "+") start -= 2;
    const next = this.#text.charAt(end);
    if (next === "/" || next === "-" || next === " ") {
      const tail = next === "/" ? SHORT_EXTENSION : VANITY;
      tail.lastIndex = end;
      if (next === "/" || TOLL_FREE.test(this.#text.slice(start, end)))
        end += tail.exec(this.#text)?.[0].length ?? 0;
    }
    this.#matches.push({ start, end });
  }
}
