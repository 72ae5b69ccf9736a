import { isHex, wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";

const SIX_OCTETS = /[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}/gi;

/** MAC addresses: `00:1a:2b:3c:4d:5e`, `00-1A-…`, and `001a.2b3c.4d5e` as routers write it. */
export function detectMacAddress(text: string): Match[] {
  const matches: Match[] = [];
  for (const found of text.matchAll(SIX_OCTETS)) {
    const start = found.index;
    const end = start + found[0].length;
    if (wordEndsAt(text, start) || wordBeginsAt(text, end)) continue;
    const separator = found[0].charAt(2) === ":" || found[0].charAt(2) === "-" ? found[0].charAt(2) : ".";
    const isLonger =
      (text.charAt(start - 1) === separator && isHex(text.charCodeAt(start - 2))) ||
      (text.charAt(end) === separator && isHex(text.charCodeAt(end + 1)));
    if (!isLonger) matches.push({ start, end });
  }
  return matches;
}
