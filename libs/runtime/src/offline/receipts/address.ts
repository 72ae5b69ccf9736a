import { LEGAL_FORM } from "./company.js";
import { endsAddress, isRegistration } from "./heading.js";

const STREET =
  /\b(?:JALAN|JLN|JL|LORONG|LRG|PERSIARAN|LEBUH|LEBUHRAYA|TAMAN|TMN|BANDAR|KAMPUNG|KG|KAWASAN|SEKSYEN|SECTION|LOT|BLOK|BLOCK|BLK|LEVEL|TINGKAT|UNIT|FLOOR|GROUND|BATU|KM|PLAZA|MALL|PLOT|STREET|ST|ROAD|RD|AVENUE|AVE|LANE|DRIVE|SQUARE|WAY|SUITE|STRASSE|AUTOROUTE|KEL|KEC|RT|RW|DESA|PT\d+)\b|[路街道号區区市省]/i;
const STARTS_WITH_NUMBER = /^(?:NO\.?\s*:?\s*)?[A-Z]{0,2}-?\d+[A-Z]?(?:\s*[-&,/]|\s+[A-Z])/i;
const POSTCODE = /(?<!\d)\d{5,6}(?!\d)/;
/** Longest address, in lines. */
const LONGEST = 6;

export function isAddressLine(line: string): boolean {
  if (endsAddress(line) || isRegistration(line) || LEGAL_FORM.test(line)) return false;
  return STREET.test(line) || STARTS_WITH_NUMBER.test(line) || POSTCODE.test(line);
}

/** The address that follows the firm's name, its lines joined by spaces; null if none follows. */
export function findAddress(header: readonly string[], from: number): string | null {
  let start = from;
  while (start < header.length && !isAddressLine(header[start] ?? "")) start++;
  const parts: string[] = [];
  for (let index = start; index < header.length && parts.length < LONGEST; index++) {
    const line = header[index] ?? "";
    if (endsAddress(line) || isRegistration(line)) break;
    parts.push(line);
  }
  return parts.length === 0 ? null : parts.join(" ");
}
