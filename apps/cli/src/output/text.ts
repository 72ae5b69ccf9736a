// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal must not obey what a document says
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu;

/** A text on one line, without characters that a terminal obeys. */
export function oneLine(text: string): string {
  return text.replace(CONTROL, " ").replace(/ {2,}/g, " ").trim();
}

/** The columns that a text without colours takes on a terminal. */
export function widthOf(text: string): number {
  return [...text].length + (text.match(WIDE)?.length ?? 0);
}

/** The text, cut with an ellipsis where it takes more columns than there are: at its end, or at its beginning. */
export function fit(text: string, columns: number, keep: "start" | "end" = "start"): string {
  if (widthOf(text) <= columns) return text;
  if (keep === "end") return [...fit([...text].reverse().join(""), columns)].reverse().join("");
  let kept = "";
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > columns) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** A value as a person reads it on one line: a text as it is, anything else as JSON. */
export function brief(value: unknown): string {
  if (value === null || value === undefined) return "";
  return oneLine(typeof value === "string" ? value : JSON.stringify(value));
}
