import { isAsciiLetter, isDigit, wordBeginsAt, wordEndsAt } from "../characters.js";
import type { Match } from "../match.js";
import { ibanRemainder } from "./checksums.js";

/** Lengths by country, from the IBAN registry (SWIFT, release 99). */
const LENGTHS = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 " +
    "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 " +
    "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 " +
    "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

const BEGINNING = /[a-z]{2}\d{2}/gi;

/** IBANs: a country's code, its length, and the checksum of ISO 13616; in one piece or in groups. */
export function detectIban(text: string): Match[] {
  const matches: Match[] = [];
  let from = 0;
  for (const found of text.matchAll(BEGINNING)) {
    const start = found.index;
    const length = LENGTHS.get(found[0].slice(0, 2).toUpperCase());
    if (length === undefined || start < from || wordEndsAt(text, start)) continue;
    const end = ibanEnd(text, start, length);
    if (end === undefined) continue;
    matches.push({ start, end });
    from = end;
  }
  return matches;
}

function ibanEnd(text: string, start: number, length: number): number | undefined {
  let iban = "";
  let at = start;
  while (iban.length < length && at < text.length) {
    const code = text.charCodeAt(at);
    if (isDigit(code) || isAsciiLetter(code)) iban += text.charAt(at);
    else if (!isSeparator(text, at)) return undefined;
    at++;
  }
  return iban.length === length && !wordBeginsAt(text, at) && ibanRemainder(iban) === 1 ? at : undefined;
}

/** One space, hyphen or point between two groups, never two in a row. */
function isSeparator(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1);
  return " -.\u00a0".includes(text.charAt(at)) && (isDigit(next) || isAsciiLetter(next));
}
