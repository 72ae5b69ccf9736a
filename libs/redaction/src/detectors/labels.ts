import { isAsciiLetter, isDigit } from "../characters.js";

/**
 * Words that say what the number behind them is: `TEL : `, `INVOICE NO: `. The words of a text are looked up once,
 * on first need; a number then asks for the nearest one before it, so that a megabyte of numbers stays linear.
 */
export class Labels {
  readonly #text: string;
  readonly #words: RegExp;
  readonly #filler: RegExp;
  #ends: number[] | undefined;
  #next = 0;

  /** `words` is global; `filler` is what may stand between a word and its number, anchored at both ends. */
  constructor(text: string, words: RegExp, filler: RegExp) {
    this.#text = text;
    this.#words = words;
    this.#filler = filler;
  }

  /** Whether a label stands before `at`. Ask in ascending order. */
  standBefore(at: number): boolean {
    if (!this.#followsLetters(at)) return false;
    this.#ends ??= endsOf(this.#text, this.#words);
    while (this.#next < this.#ends.length && (this.#ends[this.#next] ?? 0) <= at) this.#next++;
    const end = this.#ends[this.#next - 1];
    return end !== undefined && at - end <= LONGEST_FILLER && this.#isFiller(end, at);
  }

  /** Nearly all numbers of a table follow another number: that costs no look at the words. */
  #followsLetters(at: number): boolean {
    for (let before = at - 1; before >= 0 && at - before <= LONGEST_FILLER + 1; before--) {
      const code = this.#text.charCodeAt(before);
      if (isDigit(code)) return false;
      if (isAsciiLetter(code) || code > 127) return true;
    }
    return false;
  }

  #isFiller(from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      const code = this.#text.charCodeAt(at);
      if (code !== 32 && code !== 58 && code !== 46) return this.#filler.test(this.#text.slice(from, to));
    }
    return true;
  }
}

const LONGEST_FILLER = 32;

function endsOf(text: string, words: RegExp): number[] {
  const ends: number[] = [];
  words.lastIndex = 0;
  while (words.test(text)) ends.push(words.lastIndex);
  return ends;
}
