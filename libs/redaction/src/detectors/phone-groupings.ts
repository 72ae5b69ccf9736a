import { type DigitChain, lengthOf, separatorBefore } from "./digit-chain.js";

/** Most digits after the country code, for countries where that is well below the 15 digits of ITU-T E.164. */
const NATIONAL_DIGITS: Readonly<Record<string, number>> = {
  "1": 10,
  "7": 10,
  "27": 9,
  "31": 9,
  "32": 9,
  "33": 9,
  "34": 9,
  "41": 9,
  "44": 10,
  "45": 8,
  "46": 9,
  "47": 8,
  "48": 9,
  "49": 11,
  "55": 11,
  "60": 10,
  "61": 9,
  "62": 12,
  "63": 10,
  "64": 10,
  "65": 8,
  "66": 9,
  "81": 10,
  "82": 10,
  "84": 10,
  "86": 11,
  "91": 10,
  "852": 8,
  "971": 9,
};

/** Whether an international number can begin so. A 0 is let through: `(+0603)` is how some people write it. */
export function isCallingCode(run: string): boolean {
  return /^0?[1-9]/.test(run);
}

/** How many digits a number can have that begins with this run, `sign` standing right before it. */
export function longestNumber(firstRun: string, sign: string): number {
  if (sign === "+" && firstRun.startsWith("0")) return 1 + longestNumber(firstRun.slice(1), sign);
  if (firstRun.startsWith("08")) return 13;
  if (firstRun.startsWith("00")) return 15;
  if (firstRun.startsWith("0")) return 11;
  for (const length of [3, 2, 1]) {
    const national = NATIONAL_DIGITS[firstRun.slice(0, length)];
    if (national !== undefined && (sign === "+" || sign === "(" || length === 2)) return length + national;
  }
  return sign === "+" ? 15 : 12;
}

type Shape = (lengths: readonly number[], first: string, separators: readonly string[]) => boolean;

const isHyphen = (separator: string | undefined) =>
  separator !== undefined && /^ ?[-\u2010-\u2013] ?$/.test(separator);
const isTight = (separator: string | undefined) =>
  separator !== undefined && (separator === " " || isHyphen(separator));
const isParenthesis = (separator: string | undefined) =>
  separator !== undefined && /^\)[ -]?$/.test(separator);
const rest = (lengths: readonly number[]) => lengths.slice(1).join("-");

const AREA = /^0[1-9]\d{0,2}$/;
const AFTER_AREA = new Set(["6", "7", "8", "3-3", "3-4", "4-3", "4-4", "3-5", "4-5", "4-4-1"]);
const SPACED = new Set(["3-3-4", "3-4-4", "4-3-3", "4-3-4", "4-4-4", "2-4-4", "4-4-3", "5-6", "5-3-3"]);

/** Groupings that say by themselves: a phone number. Each is tried on as many runs as it has. */
const SHAPES: ReadonlyArray<readonly [runs: readonly number[], shape: Shape]> = [
  // 03-80626265, 012-918 7937, 0812-3456-7890, 03 - 7781 8333, (03) 6243 5520
  [
    [3, 2],
    (lengths, first, separators) =>
      AREA.test(first) &&
      AFTER_AREA.has(rest(lengths)) &&
      total(lengths) >= 9 &&
      (isHyphen(separators[0]) || isParenthesis(separators[0])) &&
      separators.slice(1).every(isTight),
  ],
  // 020 7946 0958, 07700 900123
  [
    [3, 2],
    (lengths, first, separators) =>
      /^0[1-9]/.test(first) && SPACED.has(lengths.join("-")) && separators.every(isTight),
  ],
  // 05.22.95.66.66
  [
    [5],
    (lengths, first, separators) =>
      /^0[1-9]$/.test(first) && lengths.join("") === "22222" && separators.every((s) => s === separators[0]),
  ],
  // (415) 555-2671, (603) 6243 5520
  [
    [3],
    (lengths, _, separators) =>
      isParenthesis(separators[0]) &&
      ["3-3-4", "3-4-4", "2-4-4"].includes(lengths.join("-")) &&
      isTight(separators[1]),
  ],
  // 415-555-2671, 415.555.2671
  [
    [3],
    (lengths, first, separators) =>
      /^[2-9]\d\d$/.test(first) &&
      lengths.join("-") === "3-3-4" &&
      separators[0] === separators[1] &&
      /^[-.]$/.test(separators[0] ?? ""),
  ],
  // 1-415-555-2671, 1-800-88-2811, 1 800 88 1231
  [
    [4],
    (lengths, first, separators) =>
      first === "1" &&
      /^1-3-(?:3-4|2-4)$/.test(lengths.join("-")) &&
      separators.every((s) => s === separators[0]) &&
      isTight(separators[0]),
  ],
  // 1300-88-5200, 1800 88 1231
  [
    [3],
    (lengths, first, separators) =>
      /^1[389]00$/.test(first) && /^4-(?:2-4|3-3)$/.test(lengths.join("-")) && separators.every(isTight),
  ],
  // 1800-88 1231 with its middle glued: 180088 1231
  [
    [2],
    (lengths, first, separators) =>
      /^1[38]00\d\d$/.test(first) && lengths[1] === 4 && separators.every(isTight),
  ],
  // 603-2030 1000, 6012-918 7937, 62-812-3456-7890
  [
    [3, 2],
    (lengths, first, separators) =>
      /^60(?:[3-9]|1\d)$/.test(first) &&
      isHyphen(separators[0]) &&
      ["7", "8", "3-4", "4-4"].includes(rest(lengths)) &&
      separators.every(isTight),
  ],
  [
    [4],
    (lengths, first, separators) =>
      /^6[0-6]$/.test(first) && /^2-[1-3]-[34]-[45]$/.test(lengths.join("-")) && separators.every(isHyphen),
  ],
  // 138-1234-5678
  [
    [3],
    (lengths, first, separators) =>
      /^1[3-9]\d$/.test(first) &&
      lengths.join("-") === "3-4-4" &&
      separators[0] === separators[1] &&
      isTight(separators[0]),
  ],
  // 0122536936, 081234567890: mobile numbers of Malaysia and Indonesia, no lengths of barcodes except 12 and 13
  [[1], (_, first) => /^(?:01[0-46-9]\d{7,8}|08[1-9]\d{7,10})$/.test(first)],
];

/** The numbers of runs from run i on that form such a grouping, the longest first. */
export function nationalRuns(text: string, chain: DigitChain, i: number): number[] {
  const first = text.slice(chain.starts[i], Math.min(chain.ends[i] ?? 0, (chain.starts[i] ?? 0) + 14));
  if (first.length > 13 || !/^[0-9]{1,13}$/.test(first)) return [];
  const left = chain.starts.length - i;
  const found: number[] = [];
  for (const [sizes, shape] of SHAPES) {
    for (const size of sizes) {
      if (size > left) continue;
      const lengths = Array.from({ length: size }, (_, k) => lengthOf(chain, i + k));
      if (total(lengths) > 13 || total(lengths) < 9) continue;
      const separators = Array.from({ length: size - 1 }, (_, k) => separatorBefore(text, chain, i + k + 1));
      if (shape(lengths, first, separators)) found.push(size);
    }
  }
  return found.sort((a, b) => b - a);
}

function total(lengths: readonly number[]): number {
  let sum = 0;
  for (const length of lengths) sum += length;
  return sum;
}
