import { wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { digitChains, digitsOf, lengthOf } from "./digit-chain.js";

const GROUPINGS = [[16], [4, 4, 4, 4], [6, 6, 4]];
const PROVINCES = new Set(
  "11 12 13 14 15 16 17 18 19 21 31 32 33 34 35 36 51 52 53 61 62 63 64 65 71 72 73 74 75 76 81 82 91 92 93 94 95 96 97".split(
    " ",
  ),
);

/**
 * Indonesia's NIK (nomor induk kependudukan): 16 digits, of which the first six name province, regency and district,
 * the next six the day of birth (with 40 added for women), the last four a sequence.
 */
export function detectNik(text: string): Match[] {
  const matches: Match[] = [];
  for (const chain of digitChains(text)) {
    for (let i = 0; i < chain.starts.length; ) {
      const grouping = GROUPINGS.find((sizes) => sizes.every((size, k) => lengthOf(chain, i + k) === size));
      const runs = grouping?.length ?? 1;
      const start = chain.starts[i] ?? 0;
      const end = chain.ends[i + runs - 1] ?? 0;
      const isFree = !wordEndsAt(text, start) && !wordBeginsAt(text, end) && text.charAt(start - 1) !== ".";
      const found = grouping !== undefined && isFree && isNik(digitsOf(text, chain, i, i + runs));
      if (found) matches.push({ start, end });
      i += found ? runs : 1;
    }
  }
  return matches;
}

function isNik(digits: string): boolean {
  const [province, regency, district, day, month] = [0, 2, 4, 6, 8].map((at) => digits.slice(at, at + 2));
  if (!PROVINCES.has(province ?? "") || regency === "00" || district === "00") return false;
  const dayOfBirth = Number(day) > 40 ? Number(day) - 40 : Number(day);
  if (dayOfBirth < 1 || dayOfBirth > 31 || Number(month) < 1 || Number(month) > 12) return false;
  return digits.slice(12) !== "0000";
}
