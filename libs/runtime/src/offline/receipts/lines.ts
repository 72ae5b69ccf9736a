/** How many lines from the top can hold the name, the address and the date; what follows is goods. */
const HEADER_LINES = 40;

/** Longest line that the rules look at, in characters; the rest of a longer one is ignored. */
const LINE_CHARACTERS = 400;

/** A receipt as lines, without the marks of Markdown and of rendered tables. */
export interface ReceiptLines {
  all: readonly string[];
  header: readonly string[];
}

export function receiptLines(text: string): ReceiptLines {
  const all: string[] = [];
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = plain(raw.slice(0, LINE_CHARACTERS));
    if (line !== "") all.push(line);
  }
  return { all, header: all.slice(0, HEADER_LINES) };
}

function plain(raw: string): string {
  return raw
    .normalize("NFKC")
    .replace(/^\s*(?:#{1,6}|>|[-*+](?=\s))\s*/, "")
    .replace(/(?<![*_])(?:\*\*|__)(?![*_])|`/g, "")
    .replace(/^\s*\||\|\s*$/g, "")
    .replace(/\s*\|\s*/g, "  ")
    .replace(/^[-=*_.~ ]+$/, "")
    .trim();
}
