import { wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { DigitRuns, Link } from "./digit-runs.js";
import { Labels } from "./labels.js";

const GROUPING = [3, 2, 4];
const WORDS = /(?<![a-z])(?:ssn|social security)(?![a-z])/gi;
const FILLER = /^[\s"':.#()/=-]*(?:(?:no|num|number|is)[\s"':.#()=-]*){0,2}$/i;

/**
 * Social security numbers of the United States: 123-45-6789; with spaces or in one piece only behind a word such as
 * SSN. Numbers that are never issued (000, 666 and 9xx; 00; 0000) are none.
 */
export function detectSsn(text: string): Match[] {
  const runs = new DigitRuns(text);
  const labels = new Labels(text, WORDS, FILLER);
  const matches: Match[] = [];
  for (let i = 0; i < runs.count; i++) {
    const size = runs.size(i);
    if (size !== 3 && size !== 9) continue;
    const count = size === 9 ? 1 : 3;
    if (count === 3 && !runs.haveSizes(i, GROUPING)) continue;
    const start = runs.start(i);
    const end = runs.end(i + count - 1);
    if (!isHyphenated(runs, i, count) && !labels.standBefore(start)) continue;
    if (wordEndsAt(text, start) || wordBeginsAt(text, end) || !isIssued(runs.digits(i, count))) continue;
    matches.push({ start, end });
    i += count - 1;
  }
  return matches;
}

/** By hyphens, and not in the middle of something longer. */
function isHyphenated(runs: DigitRuns, i: number, count: number): boolean {
  if (count !== 3 || runs.link(i + 1) !== Link.HYPHEN || runs.link(i + 2) !== Link.HYPHEN) return false;
  return runs.link(i) !== Link.HYPHEN && runs.link(i + 3) !== Link.HYPHEN;
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
