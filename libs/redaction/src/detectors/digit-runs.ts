/** What stands between two runs of digits on one line. `FAR` is anything that holds nothing together. */
export const Link = { FAR: 0, SPACE: 1, HYPHEN: 2, POINT: 3, BRACKET: 4, WIDE: 5, OPENING: 6 } as const;
export type Link = (typeof Link)[keyof typeof Link];

const ZERO = 48;
const NINE = 57;
const LONGEST_LINK = 3;
const SPACES = new Set([32, 9, 0xa0, 0x202f]);
const HYPHENS = new Set([45, 0x2010, 0x2011, 0x2012, 0x2013, 0x2014]);
const INVISIBLE = new Set([0x200b, 0x200c, 0x200d, 0xad, 0xfeff, 0x2060]);

/**
 * The runs of digits in a text and what links each to the run before it: `4111 1111-1111` has three. One pass,
 * without an object for each: a megabyte can hold half a million runs.
 */
export class DigitRuns {
  readonly text: string;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #links: Uint8Array;
  readonly count: number;

  constructor(text: string) {
    this.text = text;
    const most = /\d/.test(text) ? Math.ceil(text.length / 2) : 0;
    this.#starts = new Int32Array(most);
    this.#ends = new Int32Array(most);
    this.#links = new Uint8Array(most);
    this.count = most > 0 ? this.#read() : 0;
  }

  #read(): number {
    const { text } = this;
    let count = 0;
    let last = -LONGEST_LINK - 1;
    for (let position = 0; position < text.length; position++) {
      let code = text.charCodeAt(position);
      if (code < ZERO || code > NINE) continue;
      const start = position;
      while (code >= ZERO && code <= NINE) code = text.charCodeAt(++position);
      this.#starts[count] = start;
      this.#ends[count] = position;
      this.#links[count] = start - last > LONGEST_LINK ? Link.FAR : linkOf(text, last, start);
      last = position;
      count++;
    }
    return count;
  }

  start(i: number): number {
    return this.#starts[i] ?? 0;
  }

  end(i: number): number {
    return this.#ends[i] ?? 0;
  }

  /** The number of digits in run i; 0 where there is none. */
  size(i: number): number {
    return this.end(i) - this.start(i);
  }

  /** What links run i to the one before it. */
  link(i: number): Link {
    return i < this.count ? ((this.#links[i] ?? Link.FAR) as Link) : Link.FAR;
  }

  /** Whether run i stands close to the one before it. */
  isLinked(i: number): boolean {
    return i < this.count && this.#links[i] !== Link.FAR;
  }

  run(i: number): string {
    return this.text.slice(this.start(i), this.end(i));
  }

  /** Run i as a number; exact for up to 15 digits. */
  value(i: number): number {
    let value = 0;
    for (let at = this.start(i); at < this.end(i); at++) value = value * 10 + this.text.charCodeAt(at) - ZERO;
    return value;
  }

  /** The digits of `count` runs from run i on, without what stands between them. */
  digits(i: number, count: number): string {
    let digits = "";
    for (let k = i; k < i + count; k++) digits += this.run(k);
    return digits;
  }

  /** Whether the runs from i on have exactly these sizes and hang together. */
  haveSizes(i: number, sizes: readonly number[]): boolean {
    for (let k = 0; k < sizes.length; k++) {
      if (this.size(i + k) !== sizes[k] || (k > 0 && !this.isLinked(i + k))) return false;
    }
    return true;
  }
}

function linkOf(text: string, from: number, to: number): Link {
  const first = text.charCodeAt(from);
  if (to - from === 1) {
    if (first === 32) return Link.SPACE;
    if (SPACES.has(first) || INVISIBLE.has(first)) return Link.SPACE;
    if (HYPHENS.has(first)) return Link.HYPHEN;
    if (first === 46) return Link.POINT;
    return first === 41 ? Link.BRACKET : first === 40 ? Link.OPENING : Link.FAR;
  }
  let kind: Link = Link.WIDE;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (SPACES.has(code) || INVISIBLE.has(code)) continue;
    if (HYPHENS.has(code)) kind = kind === Link.BRACKET ? Link.BRACKET : Link.HYPHEN;
    else if (code === 41) kind = Link.BRACKET;
    else if (code === 40) kind = Link.OPENING;
    else if (code === 46 && kind === Link.WIDE) kind = Link.WIDE;
    else return Link.FAR;
  }
  return kind;
}
