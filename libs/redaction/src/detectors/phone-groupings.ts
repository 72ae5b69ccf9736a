import { type DigitRuns, Link } from "./digit-runs.js";

/** What stands in a candidate, read once: half a million of them can stand in a text, so nothing of it is a string. */
interface Candidate {
  /** The first run as a number, and how many digits it has. */
  first: number;
  size: number;
  /** What links the second run to the first. */
  link: Link;
  /** Whether the others hang together by spaces and hyphens only. */
  restIsTight: boolean;
  /** Whether all links are like the first one. */
  areSame: boolean;
}

/** Whether runs with the right sizes are a phone number. */
type Check = (candidate: Candidate) => boolean;

const isTight = (link: Link) => link === Link.SPACE || link === Link.HYPHEN;
const areTight = ({ link, restIsTight }: Candidate) => restIsTight && isTight(link);
const POWERS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const power = (exponent: number) => POWERS[exponent] ?? Number.POSITIVE_INFINITY;

/** `0` and then another digit: how a city's or a mobile network's code begins. */
const beginsLikeArea = ({ first, size }: Candidate) =>
  size > 1 && first >= power(size - 2) && first < power(size - 1);
const isArea = (candidate: Candidate) => candidate.size <= 4 && beginsLikeArea(candidate);

const afterArea: Check = (c) =>
  (c.link === Link.HYPHEN || c.link === Link.BRACKET) && c.restIsTight && isArea(c);
const spaced: Check = (c) => areTight(c) && beginsLikeArea(c);
const bracketed: Check = ({ link, restIsTight }) => link === Link.BRACKET && restIsTight;
const northAmerican: Check = ({ first, size, link, areSame }) =>
  areSame && (link === Link.HYPHEN || link === Link.POINT) && first >= 2 * power(size - 1);
const chinese: Check = ({ first, size, link, areSame }) =>
  areSame && isTight(link) && first >= 13 * power(size - 2) && first < 2 * power(size - 1);
const leadingOne: Check = ({ first, link, areSame }) => first === 1 && areSame && isTight(link);
const isTollFree = (first: number) => first === 1300 || first === 1800 || first === 1900;
const tollFree: Check = (c) => isTollFree(c.first) && areTight(c);
const withoutPlus: Check = ({ first, size, link, restIsTight }) =>
  link === Link.HYPHEN &&
  restIsTight &&
  (size === 3 ? first >= 603 && first <= 609 : size === 4 && first >= 6010 && first <= 6019);
const asianWithoutPlus: Check = ({ first, link, areSame }) =>
  areSame && link === Link.HYPHEN && first >= 60 && first <= 66;
const dotted: Check = (c) => isArea(c) && c.areSame && (c.link === Link.POINT || isTight(c.link));
const gluedTollFree: Check = (c) =>
  areTight(c) && isTollFree(Math.floor(c.first / 100)) && Math.floor(c.first / 100) !== 1900;

/**
 * Sizes of runs in which phone numbers are written without any word that says so, and the checks that make them
 * one. Dates, amounts and document numbers are not written like this.
 */
const CHECKS = new Map<string, Check[]>([
  // 03-80626265, 012-3456789, 0111-5580000
  ["2-7", [afterArea]],
  ["2-8", [afterArea]],
  ["3-6", [afterArea]],
  ["3-7", [afterArea, withoutPlus]],
  ["3-8", [afterArea, withoutPlus]],
  ["4-6", [afterArea]],
  ["4-7", [afterArea, withoutPlus]],
  ["4-8", [afterArea, withoutPlus]],
  // 03-7845 8155, 012-918 7937, 019-2616 281, (603) 6243 5520, 020 7946 0958, 415-555-2671, 138-1234-5678
  ["2-3-4", [afterArea]],
  ["2-4-3", [afterArea]],
  ["2-4-4", [afterArea, spaced, bracketed]],
  ["3-3-3", [afterArea]],
  ["3-3-4", [afterArea, spaced, bracketed, northAmerican, withoutPlus]],
  ["3-4-3", [afterArea]],
  ["3-4-4", [afterArea, spaced, bracketed, chinese, withoutPlus]],
  ["3-4-5", [afterArea]],
  ["4-3-3", [afterArea, spaced, tollFree]],
  ["4-3-4", [afterArea, spaced, withoutPlus]],
  ["4-4-3", [afterArea, spaced]],
  ["4-4-4", [afterArea, spaced, withoutPlus]],
  ["4-4-5", [afterArea]],
  ["5-3-3", [spaced]],
  ["5-6", [spaced]],
  // 05.22.95.66.66
  ["2-2-2-2-2", [dotted]],
  // 1-415-555-2671, 1-800-88-2811, 1-300-888-333
  ["1-3-3-4", [leadingOne]],
  ["1-3-2-4", [leadingOne]],
  ["1-3-3-3", [leadingOne]],
  // 1300-88-5200, 1800 88 1231, and with its middle glued
  ["4-2-4", [tollFree]],
  ["6-4", [gluedTollFree]],
  // 62-812-3456-7890
  ["2-3-4-4", [asianWithoutPlus]],
  ["2-2-3-4", [asianWithoutPlus]],
  ["2-2-4-4", [asianWithoutPlus]],
  ["2-1-4-4", [asianWithoutPlus]],
]);

/** 0122536936, 081234567890: mobile numbers of Malaysia and Indonesia in one piece. */
const MOBILE_IN_ONE_PIECE = /^(?:01[0-46-9]\d{7,8}|08[1-9]\d{7,10})$/;

const MOST_RUNS = 5;
const LARGEST_SIZE = 8;

/** Sizes as one number, so that half a million runs can be asked without making strings. */
const BY_KEY = new Map([...CHECKS].map(([sizes, checks]) => [keyOf(sizes.split("-").map(Number)), checks]));
/** For each key whether a grouping can begin so, and whether one ends there: most runs are given up at the second. */
const BEGINS = 1;
const ENDS = 2;
const KNOWN = new Uint8Array(16 ** MOST_RUNS);
for (const sizes of CHECKS.keys()) {
  const numbers = sizes.split("-").map(Number);
  for (let count = 1; count <= numbers.length; count++) {
    const key = keyOf(numbers.slice(0, count));
    KNOWN[key] = (KNOWN[key] ?? 0) | (count === numbers.length ? ENDS : BEGINS);
  }
}

function keyOf(sizes: readonly number[]): number {
  return sizes.reduce((key, size) => key * 16 + size, 0);
}

/** Looks for groupings among the runs of one text. */
export class PhoneGroupings {
  readonly #runs: DigitRuns;
  readonly #candidate: Candidate = { first: 0, size: 0, link: Link.FAR, restIsTight: true, areSame: true };

  constructor(runs: DigitRuns) {
    this.#runs = runs;
  }

  /** How many runs from run i on are written as phone numbers are, as many as possible; 0 for none. */
  at(i: number): number {
    const size = this.#runs.size(i);
    if (size >= 10) return size <= 13 && MOBILE_IN_ONE_PIECE.test(this.#runs.run(i)) ? 1 : 0;
    let key = 0;
    let found = 0;
    for (let count = 1; count <= MOST_RUNS; count++) {
      const k = i + count - 1;
      if (this.#runs.size(k) > LARGEST_SIZE || (count > 1 && !this.#runs.isLinked(k))) break;
      key = key * 16 + this.#runs.size(k);
      const known = KNOWN[key] ?? 0;
      if (known === 0) break;
      if ((known & ENDS) > 0 && this.#passes(BY_KEY.get(key) ?? [], i, count)) found = count;
    }
    return found;
  }

  #passes(checks: readonly Check[], i: number, count: number): boolean {
    const candidate = this.#candidate;
    candidate.first = this.#runs.value(i);
    candidate.size = this.#runs.size(i);
    candidate.link = this.#runs.link(i + 1);
    candidate.restIsTight = true;
    candidate.areSame = true;
    for (let k = 2; k < count; k++) {
      const link = this.#runs.link(i + k);
      if (!isTight(link)) candidate.restIsTight = false;
      if (link !== candidate.link) candidate.areSame = false;
    }
    for (const check of checks) if (check(candidate)) return true;
    return false;
  }
}
