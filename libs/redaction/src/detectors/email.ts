import { escapeLengthBefore, isAccentedLetter, isAsciiLetter, isDigit } from "../characters.js";
import type { Match } from "../match.js";

const ESCAPED_AT = "%40";
const LAST_LABEL = /^(?:[a-z]{2,}|xn--[a-z0-9-]{2,}|[\u00c0-\u052f]{2,})$/i;

/**
 * E-mail addresses. Each `@` is widened to both sides, never past the `@` before it: linear on any input.
 * `%40` counts as `@`, since addresses travel in query strings.
 */
export function detectEmail(text: string): Match[] {
  const matches: Match[] = [];
  let floor = 0;
  let plain = text.indexOf("@");
  let escaped = text.indexOf(ESCAPED_AT);
  while (plain >= 0 || escaped >= 0) {
    const isPlain = escaped < 0 || (plain >= 0 && plain < escaped);
    const at = isPlain ? plain : escaped;
    const after = at + (isPlain ? 1 : ESCAPED_AT.length);
    if (isPlain) plain = text.indexOf("@", after);
    else escaped = text.indexOf(ESCAPED_AT, after);
    const start = localStart(text, at, floor);
    const end = start === at ? undefined : domainEnd(text, after);
    floor = after;
    if (end === undefined) continue;
    matches.push({ start, end });
    floor = end;
  }
  return matches;
}

function localStart(text: string, at: number, floor: number): number {
  let start = at;
  while (start > floor && isLocal(text.charCodeAt(start - 1))) start--;
  while (start < at && !isAddressLetter(text.charCodeAt(start)) && text.charAt(start) !== "_") start++;
  if (start > floor && text.charCodeAt(start - 1) === 92) start = afterEscape(text, start, at);
  return start;
}

/** In `\nbob@…` of a JSON text the `n` belongs to the escape: replacing it would break the text around it. */
function afterEscape(text: string, start: number, at: number): number {
  for (const length of [1, 5]) {
    if (start + length < at && escapeLengthBefore(text, start + length) === length + 1) return start + length;
  }
  return start;
}

function domainEnd(text: string, from: number): number | undefined {
  let run = from;
  while (run < text.length && isDomain(text.charCodeAt(run))) run++;
  let label = from;
  let end: number | undefined;
  for (let i = from; i <= run; i++) {
    if (i < run && text.charAt(i) !== ".") continue;
    if (i === label) break;
    if (label > from && i - label <= LONGEST_LABEL && LAST_LABEL.test(text.slice(label, i))) end = i;
    label = i + 1;
  }
  return end;
}

const LONGEST_LABEL = 63;

function isAddressLetter(code: number): boolean {
  return isDigit(code) || isAsciiLetter(code) || isAccentedLetter(code);
}

function isLocal(code: number): boolean {
  return (
    isAddressLetter(code) ||
    code === 46 ||
    code === 95 ||
    code === 37 ||
    code === 43 ||
    code === 45 ||
    code === 39
  );
}

function isDomain(code: number): boolean {
  return isAddressLetter(code) || code === 46 || code === 45;
}
