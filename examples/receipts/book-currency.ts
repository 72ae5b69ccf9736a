/** What one unit of a currency is in the book's currency (MYR). Rounded rates of a fictional month's end. */
const RATES: Readonly<Record<string, number>> = {
  MYR: 1,
  CNY: 0.6,
  EUR: 4.8,
  GBP: 5.6,
  IDR: 0.00027,
  SGD: 3.2,
  USD: 4.2,
};

/** An amount in the book's currency; one without a known currency is taken to be in it already. */
export function inBookCurrency(amount: number, currency: string | null | undefined): number {
  return amount * (RATES[currency ?? "MYR"] ?? 1);
}
