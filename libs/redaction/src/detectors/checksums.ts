/** Luhn's sum, as cards carry it (ISO/IEC 7812-1, annex B), over the digits between two positions of a text. */
export function passesLuhn(text: string, start: number, end: number): boolean {
  let sum = 0;
  let double = false;
  for (let at = end - 1; at >= start; at--) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) continue;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
    double = !double;
  }
  return sum % 10 === 0;
}

/** The check digit of a GTIN (EAN-8, UPC-A, EAN-13, ITF-14), as barcodes carry it (GS1 General Specifications). */
export function passesGtin(text: string, start: number, end: number): boolean {
  let sum = 0;
  let weight = 1;
  for (let at = end - 1; at >= start; at--, weight = 4 - weight) sum += weight * (text.charCodeAt(at) - 48);
  return sum % 10 === 0;
}
