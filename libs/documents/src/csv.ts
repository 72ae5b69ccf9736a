import { parse } from "csv-parse/sync";
import { unreadable } from "./unreadable.js";

const DELIMITERS = [",", ";", "\t", "|"] as const;

/** A table as lines of text, cells separated by " | "; the delimiter is the commonest one of the first line. */
export function csvText(name: string, csv: string): string {
  let rows: string[][];
  try {
    rows = parse(csv, {
      delimiter: delimiterOf(csv),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
    });
  } catch (error) {
    throw unreadable(name, "the table is not valid CSV, probably a quote that is never closed.", error);
  }
  return rows.map((row) => row.map((cell) => cell.replace(/\s+/g, " ")).join(" | ")).join("\n");
}

function delimiterOf(csv: string): string {
  const firstLine = csv.slice(0, 10_000).split(/\r?\n/, 1)[0] ?? "";
  const counts = DELIMITERS.map((delimiter) => firstLine.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}
