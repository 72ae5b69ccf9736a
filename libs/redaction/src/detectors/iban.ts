import { wordBeginsAt, wordEndsAt } from "../characters.js";
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
    .map((entry) => [Number.parseInt(entry.slice(0, 2), 36), Number(entry.slice(2))]),
);

/** IBANs: a country's code, its length, and the checksum of ISO 13616; in one piece or in groups. */
export function detectIban(text: string): Match[] {
  if (!/[a-z]{2}\d\d/i.test(text)) return [];
  const values = valuesOf(text);
  const matches: Match[] = [];
  for (let start = 0; start + SHORTEST <= text.length; start++) {
    if (isAbove(values, start + 2, 9) || isAbove(values, start + 3, 9)) continue;
    const length = LENGTHS.get((values[start] ?? 0) * 36 + (values[start + 1] ?? 0));
    if (length === undefined || wordEndsAt(text, start)) continue;
    const end = ibanEnd(values, start, length);
    if (end === undefined || wordBeginsAt(text, end)) continue;
    matches.push({ start, end });
    start = end - 1;
  }
  return matches;
}

const SEPARATOR = 36;
const HYPHEN = 37;
const OTHER = 38;

/**
 * What each character counts: a digit itself, a letter 10 to 35. Candidates can overlap thirtyfold, and numbers are
 * read several times faster than characters.
 */
function valuesOf(text: string): Uint8Array {
  const values = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const letter = code | 32;
    if (code >= 48 && code <= 57) values[at] = code - 48;
    else if (letter >= 97 && letter <= 122 && code < 128) values[at] = letter - 87;
    else if (code === 45) values[at] = HYPHEN;
    else values[at] = code === 32 || code === 46 || code === 0xa0 ? SEPARATOR : OTHER;
  }
  return values;
}

function isAbove(values: Uint8Array, at: number, most: number): boolean {
  return (values[at] ?? OTHER) > most;
}

/**
 * Where the IBAN that begins at `start` ends; one separator may stand between two characters, never two. Hyphens part
 * groups of four: one UUID in ten thousand has a country, a length and a checksum that fit.
 */
function ibanEnd(values: Uint8Array, start: number, length: number): number | undefined {
  let body = 0;
  let taken = 0;
  let hyphens = 0;
  let at = start;
  for (; taken < length; at++) {
    const value = values[at] ?? OTHER;
    if (value < SEPARATOR) {
      if (taken >= 4) body = withValue(body, value);
      taken++;
    } else if (value === OTHER || isAbove(values, at + 1, 35)) return undefined;
    else if (value === HYPHEN && taken !== 4 * ++hyphens) return undefined;
  }
  if (hyphens > 0 && hyphens !== Math.ceil(length / 4) - 1) return undefined;
  for (let head = start; head < start + 4; head++) body = withValue(body, values[head] ?? 0);
  return body % 97 === 1 ? at : undefined;
}

/** ISO/IEC 7064 MOD 97-10, a letter being a number of two digits; divides only when the number grows long. */
function withValue(number: number, value: number): number {
  const longer = number * (value > 9 ? 100 : 10) + value;
  return longer > 1_000_000 ? longer % 97 : longer;
}
