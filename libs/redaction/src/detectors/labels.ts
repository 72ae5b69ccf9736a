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
    const ends = this.#ends ?? this.#find();
    while (this.#next < ends.length && (ends[this.#next] ?? 0) <= at) this.#next++;
    const end = ends[this.#next - 1];
    return end !== undefined && at - end <= LONGEST_FILLER && this.#filler.test(this.#text.slice(end, at));
  }

  #find(): number[] {
    const ends: number[] = [];
    for (const match of this.#text.matchAll(this.#words)) ends.push(match.index + match[0].length);
    this.#ends = ends;
    return ends;
  }
}

const LONGEST_FILLER = 32;
