import Table from "cli-table3";
import { fit, widthOf } from "./text.js";

export interface Column {
  head: string;
  align?: "right";
  /** Columns below which it is not shrunk. Default 8. */
  least?: number;
  /** Which part of a text that is too long is kept. Default: its start. A path says more at its end. */
  keep?: "end";
}

const GAP = 2;
const NO_LINES = {
  ...{ top: "", "top-mid": "", "top-left": "", "top-right": "" },
  ...{ bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" },
  ...{ left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "" },
};

/**
 * Rows under heads, without lines. The widest columns are cut until the table fits into `width`.
 * @param paint colours a whole cell, after it was cut; gets the column's index and the row's, -1 for the head
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
  paint: (text: string, column: number, row: number) => string = (text) => text,
): string {
  const widths = shrink(
    columns.map((column, i) => Math.max(widthOf(column.head), ...rows.map((row) => widthOf(row[i] ?? "")))),
    columns.map((column) => Math.max(column.least ?? 8, widthOf(column.head))),
    width - GAP * (columns.length - 1),
  );
  const cells = (texts: readonly string[], row: number): string[] =>
    texts.map((text, i) => paint(fit(text, widths[i] ?? 0, columns[i]?.keep), i, row));
  const made = new Table({
    chars: NO_LINES,
    style: { "padding-left": 0, "padding-right": GAP, head: [], border: [] },
    colAligns: columns.map((column) => column.align ?? "left"),
  });
  const heads = columns.map((column) => column.head);
  for (const [i, texts] of [heads, ...rows].entries()) made.push(cells(texts, i - 1));
  return made
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

function shrink(natural: number[], least: number[], room: number): number[] {
  const widths = [...natural];
  while (widths.reduce((sum, w) => sum + w, 0) > room) {
    const candidates = widths.map((w, i) => (w > (least[i] ?? 0) ? w : 0));
    const widest = Math.max(...candidates);
    if (widest === 0) return widths;
    const at = candidates.indexOf(widest);
    widths[at] = widest - 1;
  }
  return widths;
}
