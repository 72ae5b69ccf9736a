/** Luhn's sum, as cards carry it (ISO/IEC 7812-1, annex B). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = digits.length - 1, double = false; i >= 0; i--, double = !double) {
    const digit = digits.charCodeAt(i) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}

/** The check digit of a GTIN (EAN-8, UPC-A, EAN-13, ITF-14), as barcodes carry it (GS1 General Specifications). */
export function passesGtin(digits: string): boolean {
  let sum = 0;
  for (let i = digits.length - 1, weight = 1; i >= 0; i--, weight = 4 - weight) {
    sum += weight * (digits.charCodeAt(i) - 48);
  }
  return sum % 10 === 0;
}

/** The remainder that an IBAN must leave: 1 (ISO 13616, by ISO/IEC 7064 MOD 97-10). `iban` has no spaces. */
export function ibanRemainder(iban: string): number {
  const rearranged = iban.slice(4) + iban.slice(0, 4);
  let remainder = 0;
  for (const char of rearranged.toUpperCase()) {
    const value = Number.parseInt(char, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}
