/** Most digits after the country code, for countries where that is well below the 15 digits of ITU-T E.164. */
const NATIONAL_DIGITS = new Map([
  ["1", 10],
  ["7", 10],
  ["27", 9],
  ["31", 9],
  ["32", 9],
  ["33", 9],
  ["34", 9],
  ["41", 9],
  ["44", 10],
  ["45", 8],
  ["46", 9],
  ["47", 8],
  ["48", 9],
  ["49", 11],
  ["55", 11],
  ["60", 10],
  ["61", 9],
  ["62", 12],
  ["63", 10],
  ["64", 10],
  ["65", 8],
  ["66", 9],
  ["81", 10],
  ["82", 10],
  ["84", 10],
  ["86", 11],
  ["91", 10],
  ["852", 8],
  ["971", 9],
]);

const PLUS = 43;
const BRACKET = 40;

/** Whether an international number can begin so. A 0 is let through: `(+0603)` is how some people write it. */
export function isCallingCode(run: string): boolean {
  return /^0?[1-9]/.test(run);
}

/** How many digits a number can have that begins with this run, `sign` (a code unit) standing right before it. */
export function longestNumber(run: string, sign: number): number {
  if (run.startsWith("0")) {
    if (sign === PLUS) return 1 + longestNumber(run.slice(1), sign);
    return run.startsWith("08") ? 13 : run.startsWith("00") ? 15 : 11;
  }
  for (const length of [3, 2, 1]) {
    const national = NATIONAL_DIGITS.get(run.slice(0, length));
    if (national !== undefined && (sign === PLUS || sign === BRACKET || length === 2))
      return length + national;
  }
  return sign === PLUS ? 15 : 12;
}
