import { randomInt } from "node:crypto";

const DIGITS = 8;
const RANDOM = 2 ** 48 - 1;

/**
 * A channel version that follows `current`: a counter of 8 digits and 9 random letters, so that versions sort by
 * their counter, as text and by locale alike, and two branches that count on from one checkpoint never share one.
 */
export function nextVersion(current: string | number | undefined): string {
  const counter = current === undefined ? 0 : Number.parseInt(String(current), 10);
  const random = randomInt(RANDOM).toString(36).padStart(10, "0").slice(-9);
  return `${String(counter + 1).padStart(DIGITS, "0")}.${random}`;
}
