import pc from "picocolors";
import { type Column, table } from "./table.js";
import { oneLine } from "./text.js";

/** Columns of a table where nobody knows the terminal's width. */
const WIDTH = 120;

export type Colours = ReturnType<typeof pc.createColors>;

export interface OutputOptions {
  json: boolean;
  mayColour: boolean;
}

/**
 * What a command says. Standard output holds its result: text for people, or with --json one JSON value a line and
 * nothing else. Progress and notes go to standard error.
 */
export class Output {
  readonly json: boolean;
  /** For standard output. */
  readonly colours: Colours;
  /** For standard error. */
  readonly noteColours: Colours;
  private interlude: ((write: () => void) => void) | undefined;

  constructor({ json, mayColour }: OutputOptions) {
    this.json = json;
    this.colours = pc.createColors(mayColour && process.stdout.isTTY === true);
    this.noteColours = pc.createColors(mayColour && process.stderr.isTTY === true);
  }

  /** One JSON value on a line of its own; with --json only. */
  value(value: unknown): void {
    if (this.json) process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** A line for people; without --json only. */
  line(text = ""): void {
    if (!this.json) this.between(() => process.stdout.write(`${text}\n`));
  }

  /** A part of a line for people, as it comes. */
  write(text: string): void {
    if (!this.json) process.stdout.write(text);
  }

  /** A line on standard error. */
  note(text: string): void {
    this.between(() => process.stderr.write(`${text}\n`));
  }

  table(
    columns: readonly Column[],
    rows: readonly (readonly string[])[],
    paint: (text: string, column: number, row: number, colours: Colours) => string = (text) => text,
  ): void {
    const width = process.stdout.isTTY ? process.stdout.columns : WIDTH;
    const clean = rows.map((row) => row.map(oneLine));
    const paintAll = (text: string, column: number, row: number): string =>
      row < 0 ? this.colours.bold(text) : paint(text, column, row, this.colours);
    this.line(table(columns, clean, width, paintAll));
  }

  /** Names and values under each other; an empty value is left out. */
  fields(entries: readonly (readonly [string, string | null | undefined])[]): void {
    const shown = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
    const width = Math.max(...shown.map(([name]) => name.length));
    for (const [name, value] of shown) this.line(`${this.colours.dim(name.padEnd(width))}  ${value}`);
  }

  /** While something redraws a line of the terminal, it is asked to make room for others' lines. */
  makeRoomBy(interlude: ((write: () => void) => void) | undefined): void {
    this.interlude = interlude;
  }

  private between(write: () => void): void {
    if (this.interlude) this.interlude(write);
    else write();
  }
}

/** A status in the colour that people expect. */
export function paintStatus(status: string, colours: Colours): string {
  switch (status.trim()) {
    case "success":
      return colours.green(status);
    case "error":
    case "timeout":
      return colours.red(status);
    case "interrupted":
      return colours.yellow(status);
    case "cancelled":
      return colours.dim(status);
    default:
      return status;
  }
}
