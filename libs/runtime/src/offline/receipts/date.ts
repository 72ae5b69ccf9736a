const MONTHS: readonly RegExp[] = [
  /^JAN/,
  /^FEB|^PEB/,
  /^MAR|^MAC/,
  /^APR/,
  /^MAY|^MEI/,
  /^JUN/,
  /^JUL/,
  /^AUG|^AGU|^OGO/,
  /^SEP/,
  /^OCT|^OKT/,
  /^NOV|^NOP/,
  /^DEC|^DES|^DIS/,
];

type Reading = (match: RegExpExecArray) => string | null;

/** How dates are written, most telling first. Where day and month can't be told apart, the day comes first. */
const FORMS: readonly (readonly [RegExp, Reading])[] = [
  [/(?<!\d)(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日?/g, ([, y, m, d]) => calendarDay(y, m, d)],
  [
    /(?<![\d/.-])(20\d{2})\s?[-/.]\s?(\d{1,2})\s?[-/.]\s?(\d{1,2})(?!\d)/g,
    ([, y, m, d]) => calendarDay(y, m, d),
  ],
  [
    /(?<![\d/.-])(\d{1,2})\s?([-/.])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})(?![\d]|[-/.]\d)/g,
    ([, a, , b, y]) => calendarDay(y, b, a) ?? calendarDay(y, a, b),
  ],
  [
    /(?<!\d)(\d{1,2})(?:ST|ND|RD|TH)?[\s/.,-]*([A-Z]{3,9})[\s/.,'-]*(\d{4}|\d{2})(?!\d)/g,
    ([, d, name, y]) => calendarDay(y, monthNumber(name), d),
  ],
  [
    /\b([A-Z]{3,9})\.?\s+(\d{1,2})(?:ST|ND|RD|TH)?,?\s+(\d{4})(?!\d)/g,
    ([, name, d, y]) => calendarDay(y, monthNumber(name), d),
  ],
];

const BARE_DAY = /(?<!\d)(20\d{2})(\d{2})(\d{2})(?!\d)/;
const DATE_LABEL = /\b(?:DATE|DATED|TARIKH|TANGGAL|TGL|DATUM)\b|日期/;

/** The day of the receipt as YYYY-MM-DD, or null. A labelled date wins over the first one that stands anywhere. */
export function findDate(lines: readonly string[]): string | null {
  let first: string | null = null;
  for (const line of lines) {
    const upper = line.toUpperCase();
    const day = dayIn(upper);
    if (day === null) continue;
    if (DATE_LABEL.test(upper) && !/\b(?:DUE|EXPIRY|DELIVERY|PRINT)\b/.test(upper)) return day;
    first ??= day;
  }
  return first ?? bareDay(lines);
}

function dayIn(line: string): string | null {
  for (const [form, read] of FORMS) {
    for (const match of line.matchAll(form)) {
      const day = read(match as RegExpExecArray);
      if (day !== null) return day;
    }
  }
  return null;
}

function bareDay(lines: readonly string[]): string | null {
  for (const line of lines) {
    const match = BARE_DAY.exec(line);
    const day = match && calendarDay(match[1], match[2], match[3]);
    if (day) return day;
  }
  return null;
}

function monthNumber(name: string | undefined): string | undefined {
  const index = MONTHS.findIndex((month) => month.test(name ?? ""));
  return index < 0 ? undefined : String(index + 1);
}

/** A day that exists, within the years in which receipts are printed; two digits mean this century. */
function calendarDay(year?: string, month?: string, day?: string): string | null {
  const y = Number(year) < 100 ? 2000 + Number(year) : Number(year);
  const m = Number(month);
  const d = Number(day);
  if (!(y >= 1990 && y <= 2099 && m >= 1 && m <= 12 && d >= 1)) return null;
  if (d > new Date(Date.UTC(y, m, 0)).getUTCDate()) return null;
  return `${y}-${String(m).padStart(2, "0")}-${String(d).padStart(2, "0")}`;
}
