/** A number as it stands on a receipt, with or without a currency before it. */
const AMOUNT = /-?\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?(?!\d)|-?\d+[.,]\d{2}(?!\d)|-?\d+(?![\d.,]\d)/g;
const CURRENCY_BEFORE = /(?:RM|Rp\.?|[$€£¥])\s*$/i;

export interface Amount {
  value: number;
  /** False for a bare whole number, which may as well be a count: no decimals, no thousands, no currency. */
  isMoney: boolean;
}

/** Which sign separates decimals on this receipt: a comma if amounts such as 12,50 stand there and none as 12.50. */
export function decimalSign(lines: readonly string[]): "." | "," {
  let points = 0;
  let commas = 0;
  for (const line of lines) {
    points += line.match(/\d\.\d{2}(?!\d)/g)?.length ?? 0;
    commas += line.match(/\d,\d{2}(?!\d)/g)?.length ?? 0;
  }
  return commas > points ? "," : ".";
}

/** The amounts of a line, from left to right; percentages, times and dates are not amounts. */
export function amountsIn(line: string, decimal: "." | ","): Amount[] {
  const cleaned = line
    .replace(/@?\s*\d+(?:[.,]\d+)?\s*%/g, " ")
    .replace(/\d{1,4}[/-]\d{1,2}[/-]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?/g, " ")
    .replace(/(\d)\s*([.,])\s+(\d{2})(?!\d)/g, "$1$2$3");
  return [...cleaned.matchAll(AMOUNT)].flatMap((match) => {
    const value = parseAmount(match[0], decimal);
    const isMoney = /[.,]/.test(match[0]) || CURRENCY_BEFORE.test(cleaned.slice(0, match.index));
    return value === null ? [] : [{ value, isMoney }];
  });
}

/** 1,234.50 and 1.234,50 and 85.000 (thousands): a group of exactly three digits after a sign is never decimals. */
export function parseAmount(token: string, decimal: "." | ","): number | null {
  const grouped = decimal === "." ? /,/g : /\./g;
  const normal = token
    .replace(grouped, "")
    .replace(/[.,](?=\d{3}(?!\d))/g, "")
    .replace(",", ".");
  const value = Number(normal);
  return Number.isFinite(value) ? value : null;
}

const CURRENCIES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:MYR|RM)(?=\d|\b)/, "MYR"],
  [/\bRp\.?\s*\d|\bIDR\b|\bRUPIAH\b/i, "IDR"],
  [/\bUS\$|\bUSD\b/, "USD"],
  [/\bS\$|\bSGD\b/, "SGD"],
  [/€|\bEUR\b/, "EUR"],
  [/£|\bGBP\b/, "GBP"],
  [/¥|\bCNY\b|\bRMB\b|元|人民币/, "CNY"],
];

/** ISO 4217 code of the currency that the receipt names; null if it names none, or a bare $. */
export function currencyOf(lines: readonly string[]): string | null {
  const text = lines.join("\n");
  return CURRENCIES.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}
