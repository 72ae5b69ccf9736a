/** First and last prefix of an issuer's range, and the lengths of its numbers. */
type IssuerRange = readonly [first: string, last: string, shortest: number, longest: number];

/**
 * The ranges in which cards are issued, as the networks publish them. Ranges of shop and loyalty cards are left
 * out: their numbers pass Luhn as well.
 */
const RANGES: readonly IssuerRange[] = [
  ["4", "4", 13, 13], // Visa, old
  ["4", "4", 16, 16], // Visa
  ["4", "4", 19, 19], // Visa
  ["51", "55", 16, 16], // Mastercard
  ["2221", "2720", 16, 16], // Mastercard
  ["34", "34", 15, 15], // American Express
  ["37", "37", 15, 15], // American Express
  ["6011", "6011", 16, 19], // Discover
  ["644", "649", 16, 19], // Discover
  ["65", "65", 16, 19], // Discover, RuPay
  ["300", "305", 14, 19], // Diners Club
  ["3095", "3095", 14, 19], // Diners Club
  ["36", "36", 14, 19], // Diners Club
  ["38", "39", 14, 19], // Diners Club
  ["3528", "3589", 16, 19], // JCB
  ["62", "62", 16, 19], // UnionPay
  ["81", "81", 16, 19], // UnionPay, RuPay
  ["2200", "2204", 16, 19], // Mir
  ["5018", "5018", 13, 19], // Maestro
  ["5020", "5020", 13, 19], // Maestro
  ["5038", "5038", 13, 19], // Maestro
  ["5893", "5893", 13, 19], // Maestro
  ["6304", "6304", 13, 19], // Maestro
  ["6759", "6759", 13, 19], // Maestro
  ["6761", "6763", 13, 19], // Maestro
  ["508500", "508999", 16, 16], // RuPay
  ["606985", "607984", 16, 16], // RuPay
  ["608001", "608500", 16, 16], // RuPay
  ["506099", "506198", 16, 19], // Verve
  ["9792", "9792", 16, 16], // Troy
  ["506699", "506778", 16, 16], // Elo
  ["636368", "636368", 16, 16], // Elo
];

const PREFIX_DIGITS = 6;
/** The same as numbers of six digits, since a detector asks this very often. */
const NUMERIC_RANGES = RANGES.map(([first, last, shortest, longest]) => ({
  first: Number(first.padEnd(PREFIX_DIGITS, "0")),
  last: Number(last.padEnd(PREFIX_DIGITS, "9")),
  shortest,
  longest,
}));

/** Whether some network issues numbers of `length` digits that begin with these six digits. */
export function isIssued(prefix: number, length: number): boolean {
  for (const range of NUMERIC_RANGES) {
    if (prefix >= range.first && prefix <= range.last && length >= range.shortest && length <= range.longest)
      return true;
  }
  return false;
}
