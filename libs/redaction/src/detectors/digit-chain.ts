import { isDigit } from "../characters.js";

/**
 * Runs of digits that stand close together on one line: `4111 1111-1111 1111`. `starts[i]` and `ends[i]` bound
 * run i; between two runs of a chain are one to three separators.
 */
export interface DigitChain {
  starts: number[];
  ends: number[];
}

const SEPARATORS = new Set([
  ..." \t\u00a0\u202f.-()\u2010\u2011\u2012\u2013\u2014\u200b\u200c\u200d\u00ad\ufeff",
]);
const LONGEST_SEPARATOR = 3;

/** The chains of a text in order. One pass; every character is looked at a constant number of times. */
export function* digitChains(text: string): Generator<DigitChain> {
  let chain: DigitChain = { starts: [], ends: [] };
  let position = 0;
  while (position < text.length) {
    if (!isDigit(text.charCodeAt(position))) {
      position++;
      continue;
    }
    const start = position;
    while (position < text.length && isDigit(text.charCodeAt(position))) position++;
    if (chain.ends.length > 0 && !isSeparated(text, chain.ends.at(-1) ?? 0, start)) {
      yield chain;
      chain = { starts: [], ends: [] };
    }
    chain.starts.push(start);
    chain.ends.push(position);
  }
  if (chain.ends.length > 0) yield chain;
}

function isSeparated(text: string, from: number, to: number): boolean {
  if (to - from > LONGEST_SEPARATOR) return false;
  for (let i = from; i < to; i++) if (!SEPARATORS.has(text.charAt(i))) return false;
  return true;
}

/** The digits of runs `from` to `to` (exclusive), without what stands between them. */
export function digitsOf(text: string, chain: DigitChain, from: number, to: number): string {
  let digits = "";
  for (let i = from; i < to; i++) digits += text.slice(chain.starts[i], chain.ends[i]);
  return digits;
}

/** What stands between run i-1 and run i. */
export function separatorBefore(text: string, chain: DigitChain, i: number): string {
  return i === 0 ? "" : text.slice(chain.ends[i - 1], chain.starts[i]);
}

export function lengthOf(chain: DigitChain, i: number): number {
  return (chain.ends[i] ?? 0) - (chain.starts[i] ?? 0);
}
