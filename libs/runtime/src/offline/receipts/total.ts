import { amountsIn } from "./amount.js";

/** What a label says about the amount beside it; the higher, the surer that it is what the buyer pays. */
const RANKS: readonly (readonly [RegExp, number])[] = [
  [
    /ROUND(?:ED|ING)\s*TOTAL|TOTAL\s*(?:AMT|AMOUNT|SALES)?\s*(?:AFTER\s*)?ROUND|TOTAL\s*AFTER\s*ADJ|GRAND\s*TOTAL|FINAL\s*TOTAL/,
    6,
  ],
  [
    /^DUE\b|(?:AMOUNT|AMT|BALANCE|TOTAL)\s*(?:TO\s*BE\s*PAID|DUE|PAYABLE|BAYAR|PEMBAYARAN)|TOTAL\s*TO\s*PAY|NETT?\s*(?:TOTAL|AMT|AMOUNT)|JUMLAH\s*BESAR|实付|应付|應付/,
    5,
  ],
  [
    /TOTAL.*(?:INCL|INC\b|GST|WITH\s*TAX)|TOTAL\s*(?:AMOUNT|AMT|SALES?)|TOTAL\s*BELANJA|总计|合计|總計|合計|总额/,
    4,
  ],
  [/\bTOTAL\b|\bTOTALS?:|^JUMLAH\b|\bTTL\b|TOTAL\s*(?:RM|\$)/, 4],
  [/^AMOUNT\b|^AMT\b|\bNETT?\b/, 2],
  [/SUB\s*-?\s*TOTAL|小计/, 1],
];

const NOT_A_TOTAL =
  /\b(?:QTY|QUANTITY|ITEMS?|DISC(?:OUNT)?S?|SAVINGS?|SAVED|POINTS?|CHANGE|TENDER(?:ED)?|ROUNDING\s*ADJ\w*)\b|TOTAL\s*(?:GST|TAX|SST|PPN|VAT)\b|EXCL|BEFORE|TAXABLE|INCLUDED|ACCEPTED|LOADING|KEMBALI|找零|税额/;
const SUMMARY = /\b(?:GST|TAX|SST)\s*(?:SUMMARY|ANALYSIS|DETAILS?|CODE)\b|^(?:GST|TAX)\s+AMOUNT/;
/** Nothing but tax summaries and courtesies follows the change. */
const AFTER_PAYMENT = /^\W*(?:CHANGE|KEMBALI|BAKI|KEMBALIAN)\b|找零/;
/** A total with more words than this is a sentence about totals. */
const LABEL_WORDS = 12;

/** The amount that the buyer pays, or null when the receipt doesn't say. */
export function findTotal(lines: readonly string[], decimal: "." | ","): number | null {
  let best: number | null = null;
  let bestRank = 0;
  let inSummary = false;
  for (const [index, line] of lines.entries()) {
    const upper = line.toUpperCase();
    if (SUMMARY.test(upper) || AFTER_PAYMENT.test(upper)) inSummary = true;
    const rank = rankOf(upper) - (inSummary ? 3.5 : 0);
    if (rank <= 0 || rank < bestRank) continue;
    const value = amountBeside(lines, index, decimal);
    if (value !== null) [best, bestRank] = [value, rank];
  }
  const paid = paidLessChange(lines, decimal);
  if (best === null) return paid;
  // Cash is rounded to the smallest coin; what was paid is then the total.
  return paid !== null && paid > 0 && Math.abs(paid - best) < 0.05 ? paid : best;
}

function rankOf(label: string): number {
  if (/SUB\s*-?\s*TOTAL|小计/.test(label)) return 1;
  if (NOT_A_TOTAL.test(label) || label.split(/\s+/).length > LABEL_WORDS) return 0;
  return RANKS.find(([pattern]) => pattern.test(label))?.[1] ?? 0;
}

/** The last amount of the line; if it has none, the only amount of the next line. */
function amountBeside(lines: readonly string[], index: number, decimal: "." | ","): number | null {
  const own = amountsIn(lines[index] ?? "", decimal).filter((amount) => amount.isMoney);
  const last = own.at(-1);
  if (last) return last.value;
  const next = lines[index + 1] ?? "";
  if (/[A-Z]{3,}/i.test(next)) return null;
  const after = amountsIn(next, decimal).filter((amount) => amount.isMoney);
  return after.length === 1 ? (after[0]?.value ?? null) : null;
}

function paidLessChange(lines: readonly string[], decimal: "." | ","): number | null {
  const paid = labelled(lines, /^(?:CASH|TUNAI|VISA|MASTER|CREDIT|DEBIT|CARD|PAID|PAYMENT)/i, decimal);
  if (paid === null) return null;
  const change = labelled(lines, /^(?:CHANGE|KEMBALI|BAKI)/i, decimal) ?? 0;
  return Math.round((paid - change) * 100) / 100;
}

function labelled(lines: readonly string[], label: RegExp, decimal: "." | ","): number | null {
  for (const line of lines) {
    if (!label.test(line)) continue;
    const amount = amountsIn(line, decimal)
      .filter((candidate) => candidate.isMoney)
      .at(-1);
    if (amount) return amount.value;
  }
  return null;
}
