import { createReadStream } from "node:fs";
import { unreadable } from "./unreadable.js";

export interface LineSpan {
  number: number;
  start: number;
  end: number;
}

const LINE_FEED = 0x0a;

/** The lines of a file that hold something, by their bytes. Reads the file once, in pieces; keeps only numbers. */
export async function* lineSpans(path: string): AsyncGenerator<LineSpan> {
  let offset = 0;
  let start = 0;
  let number = 1;
  let isBlank = true;
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0;
    while (from < chunk.length) {
      const at = chunk.indexOf(LINE_FEED, from);
      const to = at < 0 ? chunk.length : at;
      isBlank &&= isWhiteSpace(chunk, from, to);
      if (at < 0) break;
      if (!isBlank) yield { number, start, end: offset + at };
      number++;
      start = offset + at + 1;
      isBlank = true;
      from = at + 1;
    }
    offset += chunk.length;
  }
  if (!isBlank) yield { number, start, end: offset };
}

/** The text of a line: a JSON string is its own text, an object gives its `text` field or else itself, indented. */
export function lineText(name: string, json: string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw unreadable(
      name,
      "the line is not valid JSON. Write one JSON string or object on each line.",
      error,
    );
  }
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return "text" in value && typeof value.text === "string" ? value.text : JSON.stringify(value, null, 2);
  }
  throw unreadable(name, "the line is neither a JSON string nor an object.");
}

function isWhiteSpace(bytes: Buffer, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if ((bytes[index] ?? 0) > 0x20) return false;
  return true;
}
