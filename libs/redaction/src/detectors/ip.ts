import { isIPv6 } from "node:net";
import { isDigit, isHex, wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";

const FOUR_NUMBERS = /\d{1,3}(?:\.\d{1,3}){3}/g;
const OCTETS = /^(?:(?:[01]?\d?\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}$/;
/** `::1` and the longest spelling, one that ends in an IPv4 address. */
const SHORTEST_V6 = 3;
const LONGEST_V6 = 45;

/** IP addresses: four decimal octets, and IPv6 in any of its spellings (RFC 4291, section 2.2). */
export function detectIp(text: string): Match[] {
  const v6 = detectV6(text);
  const matches: Match[] = [];
  let next = 0;
  for (const match of detectV4(text)) {
    for (let other = v6[next]; other && other.start <= match.start; other = v6[++next]) matches.push(other);
    if ((matches.at(-1)?.end ?? 0) <= match.start) matches.push(match);
  }
  return [...matches, ...v6.slice(next)];
}

function detectV4(text: string): Match[] {
  const matches: Match[] = [];
  FOUR_NUMBERS.lastIndex = 0;
  for (let found = FOUR_NUMBERS.exec(text); found; found = FOUR_NUMBERS.exec(text)) {
    const start = found.index;
    const end = FOUR_NUMBERS.lastIndex;
    // A fifth number makes it a version or a French phone number.
    const isLonger =
      (text.charAt(start - 1) === "." && isDigit(text.charCodeAt(start - 2))) ||
      (text.charAt(end) === "." && isDigit(text.charCodeAt(end + 1)));
    if (isLonger || wordEndsAt(text, start) || wordBeginsAt(text, end)) continue;
    if (OCTETS.test(found[0])) matches.push({ start, end });
  }
  return matches;
}

function detectV6(text: string): Match[] {
  const matches: Match[] = [];
  let end = 0;
  for (let colon = text.indexOf(":"); colon >= 0; colon = text.indexOf(":", end)) {
    let start = colon;
    while (start > end && isAddressPart(text.charCodeAt(start - 1))) start--;
    end = colon + 1;
    while (end < text.length && isAddressPart(text.charCodeAt(end))) end++;
    const match = addressIn(text, start, end);
    if (match) matches.push(match);
  }
  return matches;
}

function isAddressPart(code: number): boolean {
  return isHex(code) || code === 58 || code === 46;
}

/** The address in a run of hexadecimal digits, colons and points; a word in front (`node:`) is taken off. */
function addressIn(text: string, from: number, to: number): Match | undefined {
  let start = from;
  let end = to;
  while (
    end > start &&
    (text.charAt(end - 1) === "." || (text.charAt(end - 1) === ":" && text.charAt(end - 2) !== ":"))
  )
    end--;
  if (wordBeginsAt(text, end)) return undefined;
  for (let tries = 0; tries < 3; tries++) {
    const isGlued = wordEndsAt(text, start) && text.charAt(start) !== ":";
    if (end - start < SHORTEST_V6) return undefined;
    if (!isGlued && end - start <= LONGEST_V6 && isAddress(text.slice(start, end))) return { start, end };
    const colon = text.indexOf(":", start);
    if (colon < 0 || colon + 1 >= end) return undefined;
    start = text.charAt(colon + 1) === ":" && colon > start && !isGlued ? colon : colon + 1;
  }
  return undefined;
}

/** `Face::Add` is C++: an address has a digit, or three groups and more. */
function isAddress(candidate: string): boolean {
  if (!isIPv6(candidate)) return false;
  return /\d/.test(candidate) || candidate.split(":").filter(Boolean).length > 2;
}
