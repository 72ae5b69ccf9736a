/** How one field compares: text by its letters and digits, amounts as numbers, dates as calendar days. */
export type FieldKind = "text" | "amount" | "date";

/**
 * Whether an extracted value equals the truth. Text: case, white space and punctuation don't count. Amounts: equal
 * as numbers, a currency sign aside. Dates: the same calendar day; a truth such as 03/04/2018 has its day first.
 * A missing truth is met by a missing value only.
 */
export function fieldIsRight(kind: FieldKind, actual: unknown, truth: unknown): boolean {
  const normalise = NORMALISE[kind];
  return normalise(actual) === normalise(truth);
}

/** The kind of a field by its name: `date`, `total` and `amount` are what they say, everything else is text. */
export function fieldKind(name: string): FieldKind {
  if (name === "date") return "date";
  return name === "total" || name === "amount" ? "amount" : "text";
}

/** Which fields of `truth` (all but `id`) the output has right. */
export function scoreFields(output: unknown, truth: Record<string, unknown>): Record<string, boolean> {
  const actual = typeof output === "object" && output !== null ? (output as Record<string, unknown>) : {};
  return Object.fromEntries(
    Object.keys(truth)
      .filter((name) => name !== "id")
      .map((name) => [name, fieldIsRight(fieldKind(name), actual[name], truth[name])]),
  );
}

const NORMALISE: Record<FieldKind, (value: unknown) => string> = {
  text: (value) =>
    asText(value)
      .normalize("NFKC")
      .toUpperCase()
      .replace(/[^\p{L}\p{N}]/gu, ""),
  amount: (value) => {
    const digits = asText(value)
      .replace(/,/g, "")
      .replace(/[^\d.-]/g, "");
    return digits === "" ? "" : String(Number(digits));
  },
  date: (value) => calendarDay(asText(value).toUpperCase()),
};

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

function calendarDay(text: string): string {
  const named = /([A-Z]{3})[A-Z]*/.exec(text)?.[1];
  const numbers = (text.match(/\d+/g) ?? []).map(Number);
  const compact = /^\d{8}$/.test(text)
    ? [text.slice(0, 4), text.slice(4, 6), text.slice(6)].map(Number)
    : numbers;
  const [a = 0, b = 0, c = 0] = compact;
  if (named !== undefined) return day(b, MONTHS.indexOf(named) + 1, a);
  return a > 31 ? day(a, b, c) : day(c, b, a);
}

function day(year: number, month: number, dayOfMonth: number): string {
  if (year === 0 && month === 0 && dayOfMonth === 0) return "";
  const [m, d] = month > 12 && dayOfMonth <= 12 ? [dayOfMonth, month] : [month, dayOfMonth];
  return [year < 100 ? 2000 + year : year, m, d].join("-");
}

function asText(value: unknown): string {
  return value === null || value === undefined ? "" : String(value).trim();
}
