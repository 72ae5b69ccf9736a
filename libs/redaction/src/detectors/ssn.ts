import { wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { digitChains, digitsOf, lengthOf, separatorBefore } from "./digit-chain.js";
import { Labels } from "./labels.js";

const WORDS = /(?<![a-z])(?:ssn|social security)(?![a-z])/gi;
const FILLER = /^[\s"':.#()/=-]*(?:(?:no|num|number|is)[\s"':.#()=-]*){0,2}$/i;

/**
 * Social security numbers of the United States: 123-45-6789; with spaces or in one piece only behind a word such as
 * SSN. Numbers that are never issued (000, 666 and 9xx; 00; 0000) are none.
 */
export function detectSsn(text: string): Match[] {
  const matches: Match[] = [];
  const labels = new Labels(text, WORDS, FILLER);
  for (const chain of digitChains(text)) {
    for (let i = 0; i < chain.starts.length; i++) {
      const isGrouped = [3, 2, 4].every((size, k) => lengthOf(chain, i + k) === size);
      if (!isGrouped && lengthOf(chain, i) !== 9) continue;
      const runs = isGrouped ? 3 : 1;
      const start = chain.starts[i] ?? 0;
      const end = chain.ends[i + runs - 1] ?? 0;
      if (wordEndsAt(text, start) || wordBeginsAt(text, end) || !isIssued(digitsOf(text, chain, i, i + runs)))
        continue;
      const hyphens = [separatorBefore(text, chain, i + 1), separatorBefore(text, chain, i + 2)];
      const isHyphenated =
        isGrouped && hyphens.every((separator) => separator === "-" || separator === "\u2011");
      const isLonger =
        separatorBefore(text, chain, i) === "-" ||
        (i + 3 < chain.starts.length && separatorBefore(text, chain, i + 3) === "-");
      if ((!isHyphenated || isLonger) && !labels.standBefore(start)) continue;
      matches.push({ start, end });
      i += runs - 1;
    }
  }
  return matches;
}

function isIssued(digits: string): boolean {
  const area = digits.slice(0, 3);
  return (
    area !== "000" &&
    area !== "666" &&
    area < "900" &&
    digits.slice(3, 5) !== "00" &&
    digits.slice(5) !== "0000"
  );
}
