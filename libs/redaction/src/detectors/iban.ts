import { isAsciiLetter, isDigit, wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";

const SHORTEST = 15;

/** Lengths by country, from the IBAN registry (SWIFT, release 99). */
const LENGTHS = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 " +
    "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 " +
    "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 " +
    "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [countryKey(entry.charCodeAt(0), entry.charCodeAt(1)), Number(entry.slice(2))]),
);

/** IBANs: a country's code, its length, and the checksum of ISO 13616; in one piece or in groups. */
export function detectIban(text: string): Match[] {
  const matches: Match[] = [];
  let codes: Uint16Array | undefined;
  for (let start = 0; start + SHORTEST <= text.length; start++) {
    if (!isDigit(text.charCodeAt(start + 2)) || !isDigit(text.charCodeAt(start + 3))) continue;
    const length = LENGTHS.get(countryKey(text.charCodeAt(start), text.charCodeAt(start + 1)));
    if (length === undefined || wordEndsAt(text, start)) continue;
    codes ??= codeUnits(text);
    const end = ibanEnd(codes, start, length);
    if (end === undefined || wordBeginsAt(text, end)) continue;
    matches.push({ start, end });
    start = end - 1;
  }
  return matches;
}

/** One number for two letters of either case; no letters make no key that is in the table. */
function countryKey(first: number, second: number): number {
  return isAsciiLetter(first) && isAsciiLetter(second) ? ((first | 32) << 8) | (second | 32) : 0;
}

/** Candidates can overlap thirtyfold, and an array is read several times faster than a string. */
function codeUnits(text: string): Uint16Array {
  const bytes = Buffer.from(text, "utf16le");
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
}

function ibanEnd(codes: Uint16Array, start: number, length: number): number | undefined {
  let taken = 0;
  let at = start;
  for (; taken < length; at++) {
    const code = codes[at] ?? 0;
    if (isDigit(code) || isAsciiLetter(code)) taken++;
    else if (!isSeparator(code, codes[at + 1] ?? 0)) return undefined;
  }
  return remainder(codes, start, at) === 1 ? at : undefined;
}

/** ISO/IEC 7064 MOD 97-10, a letter being a number of two digits, the first four characters counted last. */
function remainder(codes: Uint16Array, start: number, end: number): number {
  const body = withCharacters(codes, start + 4, end, 0);
  return withCharacters(codes, start, start + 4, body) % 97;
}

/** Divides only when the number grows long: the result is congruent, not yet reduced. */
function withCharacters(codes: Uint16Array, from: number, to: number, before: number): number {
  let number = before;
  for (let at = from; at < to; at++) {
    const code = codes[at] ?? 0;
    if (isDigit(code)) number = number * 10 + code - 48;
    else if (isAsciiLetter(code)) number = number * 100 + (code | 32) - 87;
    if (number > 1_000_000) number %= 97;
  }
  return number;
}

/** One space, hyphen or point between two groups, never two in a row. */
function isSeparator(code: number, next: number): boolean {
  return (
    (code === 32 || code === 45 || code === 46 || code === 0xa0) && (isDigit(next) || isAsciiLetter(next))
  );
}
