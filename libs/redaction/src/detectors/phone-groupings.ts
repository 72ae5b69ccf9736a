import { type DigitRuns, Link } from "./digit-runs.js";

/** Whether runs with the right sizes are a phone number: by the first run and by what links the runs. */
type Check = (first: string, links: readonly Link[]) => boolean;

const areTight = (links: readonly Link[]) =>
  links.every((link) => link === Link.SPACE || link === Link.HYPHEN);
const areSame = (links: readonly Link[], ...kinds: Link[]) =>
  kinds.includes(links[0] ?? Link.FAR) && links.every((link) => link === links[0]);

/** A city's or a mobile network's code with its leading 0. */
const isArea = (first: string) => /^0[1-9]\d{0,2}$/.test(first);

const afterArea: Check = (first, [link, ...rest]) =>
  isArea(first) && (link === Link.HYPHEN || link === Link.BRACKET) && areTight(rest);
const spaced: Check = (first, links) => /^0[1-9]/.test(first) && areTight(links);
const bracketed: Check = (_, [link, ...rest]) => link === Link.BRACKET && areTight(rest);
const northAmerican: Check = (first, links) =>
  /^[2-9]/.test(first) && areSame(links, Link.HYPHEN, Link.POINT);
const chinese: Check = (first, links) => /^1[3-9]/.test(first) && areSame(links, Link.HYPHEN, Link.SPACE);
const leadingOne: Check = (first, links) => first === "1" && areSame(links, Link.HYPHEN, Link.SPACE);
const tollFree: Check = (first, links) => /^1[389]00$/.test(first) && areTight(links);
const withoutPlus: Check = (first, [link, ...rest]) =>
  /^60(?:[3-9]|1\d)$/.test(first) && link === Link.HYPHEN && areTight(rest);
const asianWithoutPlus: Check = (first, links) => /^6[0-6]$/.test(first) && areSame(links, Link.HYPHEN);

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
  ["2-2-2-2-2", [(first, links) => isArea(first) && areSame(links, Link.POINT, Link.SPACE, Link.HYPHEN)]],
  // 1-415-555-2671, 1-800-88-2811, 1-300-888-333
  ["1-3-3-4", [leadingOne]],
  ["1-3-2-4", [leadingOne]],
  ["1-3-3-3", [leadingOne]],
  // 1300-88-5200, 1800 88 1231, and with its middle glued
  ["4-2-4", [tollFree]],
  ["6-4", [(first, links) => /^1[38]00/.test(first) && areTight(links)]],
  // 62-812-3456-7890
  ["2-3-4-4", [asianWithoutPlus]],
  ["2-2-3-4", [asianWithoutPlus]],
  ["2-2-4-4", [asianWithoutPlus]],
  ["2-1-4-4", [asianWithoutPlus]],
]);

/** 0122536936, 081234567890: mobile numbers of Malaysia and Indonesia in one piece. */
const MOBILE_IN_ONE_PIECE = /^(?:01[0-46-9]\d{7,8}|08[1-9]\d{7,10})$/;

/** Sizes as one number, so that half a million runs can be asked without making strings. */
const BY_KEY = new Map([...CHECKS].map(([sizes, checks]) => [keyOf(sizes.split("-").map(Number)), checks]));
const MOST_RUNS = 5;
const LARGEST_SIZE = 8;
/** How such a grouping can begin: most runs are given up at the first or second one. */
const BEGINNINGS = new Set(
  [...CHECKS.keys()].flatMap((sizes) => {
    const numbers = sizes.split("-").map(Number);
    return numbers.map((_, i) => keyOf(numbers.slice(0, i + 1)));
  }),
);

function keyOf(sizes: readonly number[]): number {
  return sizes.reduce((key, size) => key * 16 + size, 0);
}

/** Looks for groupings among the runs of one text. */
export class PhoneGroupings {
  readonly #runs: DigitRuns;

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
      if (!BEGINNINGS.has(key)) break;
      const checks = BY_KEY.get(key);
      if (checks && this.#passes(checks, i, count)) found = count;
    }
    return found;
  }

  #passes(checks: readonly Check[], i: number, count: number): boolean {
    const first = this.#runs.run(i);
    const links: Link[] = [];
    for (let k = 1; k < count; k++) links.push(this.#runs.link(i + k));
    return checks.some((check) => check(first, links));
  }
}
