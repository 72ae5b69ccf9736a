import { isNoName, withoutRegistration } from "./heading.js";

/** Words that only names of firms end in. */
export const LEGAL_FORM =
  /\bSDN\.?\s*B[HN]D\b|\bS\/B\b|\bBERHAD\b|\bBHD\b|\bPLT\b|\bLTD\b|\bLLC\b|\bINC\b|\bGMBH\b|\bPTE\b|^PT\.?\s+[A-Z]|^CV\.?\s|\bTBK\b|有限公司|商店|超市|店$/i;
const TRADE =
  /\b(?:ENTERPRISE|TRADING|RESTAURANT|RESTORAN|HARDWARE|STATIONERY|SERVICES?|STATION|SHOP|STORE|MART|MARKET|CAFE|BAKERY|BAKERIES|PHARMACY|CLINIC|KLINIK|COMPANY|PERNIAGAAN|SYARIKAT|KEDAI|TOKO|WARUNG|HOTEL|KITCHEN|BOOKS?|ELECTRICAL|MOTOR|AUTO)\b/i;
/** How far down the name of the firm can stand. */
const REACH = 12;

export interface Company {
  name: string;
  /** The index of the line after the name. */
  next: number;
}

/** The firm that issued the receipt: the first line that bears a legal form, else the first that can be a name. */
export function findCompany(header: readonly string[], isAddress: (line: string) => boolean): Company | null {
  let fallback: Company | null = null;
  for (let index = 0; index < Math.min(header.length, REACH); index++) {
    const line = header[index] ?? "";
    if (isNoName(withoutRegistration(line))) continue;
    if (fallback && isAddress(line)) break;
    const candidate = nameFrom(header, index);
    if (LEGAL_FORM.test(candidate.name)) return candidate;
    fallback ??= candidate;
  }
  return fallback;
}

/** A name may be broken over up to three lines; the last one then bears the legal form. */
function nameFrom(header: readonly string[], index: number): Company {
  let joined = "";
  for (let length = 1; length <= 3; length++) {
    const line = header[index + length - 1];
    if (line === undefined || (length > 1 && (isNoName(line) || /\d{3,}/.test(withoutRegistration(line)))))
      break;
    joined = joined === "" ? line : `${joined} ${line}`;
    const name = withoutRegistration(joined);
    if (!LEGAL_FORM.test(name)) continue;
    const alone = withoutRegistration(line);
    const isWhole = length > 1 && LEGAL_FORM.test(alone) && !startsMidName(alone);
    if (!isWhole) return { name, next: index + length };
    break;
  }
  return { name: withoutRegistration(header[index] ?? ""), next: index + 1 };
}

/** True for the rest of a broken name: it has at most one word before its legal form, or none of its own. */
function startsMidName(line: string): boolean {
  const before = line
    .replace(LEGAL_FORM, "")
    .replace(/\(.*?\)/g, " ")
    .trim();
  return (
    before === "" ||
    TRADE.test(before.split(/\s+/)[0] ?? "") ||
    /^(?:CO\b|&|AND\b|\w*\))/i.test(before) ||
    before.split(/\s+/).length < 2
  );
}
