import { wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { DigitRuns, Link } from "./digit-runs.js";

const GROUPINGS = [[16], [4, 4, 4, 4], [6, 6, 4]];
const PROVINCES = new Set([
  11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 31, 32, 33, 34, 35, 36, 51, 52, 53, 61, 62, 63, 64, 65, 71, 72, 73,
  74, 75, 76, 81, 82, 91, 92, 93, 94, 95, 96, 97,
]);

/**
 * Indonesia's NIK (nomor induk kependudukan): 16 digits, of which the first six name province, regency and district,
 * the next six the day of birth (with 40 added for women), the last four a sequence.
 */
export function detectNik(text: string): Match[] {
  const runs = new DigitRuns(text);
  const matches: Match[] = [];
  for (let i = 0; i < runs.count; i++) {
    const size = runs.size(i);
    if (size !== 16 && size !== 4 && size !== 6) continue;
    const count = GROUPINGS.find((sizes) => runs.haveSizes(i, sizes))?.length;
    if (count === undefined || !isNik(runs.digits(i, count))) continue;
    const start = runs.start(i);
    const end = runs.end(i + count - 1);
    if (wordEndsAt(text, start) || wordBeginsAt(text, end) || runs.link(i) === Link.POINT) continue;
    matches.push({ start, end });
    i += count - 1;
  }
  return matches;
}

function isNik(digits: string): boolean {
  const pair = (at: number) => (digits.charCodeAt(at) - 48) * 10 + digits.charCodeAt(at + 1) - 48;
  if (!PROVINCES.has(pair(0)) || pair(2) === 0 || pair(4) === 0) return false;
  const day = pair(6) > 40 ? pair(6) - 40 : pair(6);
  if (day < 1 || day > 31 || pair(8) < 1 || pair(8) > 12) return false;
  return digits.slice(12) !== "0000";
}
