import type { Match } from "../match.js";

const REST = String.raw`[^\s<>"{}|\\^\x60\[\]\u3000-\u303f\uff01-\uffef]+`;
const SCHEMES =
  "https?|ftps?|sftp|wss?|ssh|git|file|s3|gs|ldaps?|jdbc|postgres(?:ql)?|mysql|mongodb(?:\\+srv)?|rediss?|amqps?|smb|rtsp";
const URL = new RegExp(`(?:${SCHEMES})://${REST}|www\\.(?=[a-z0-9])${REST}`, "gi");

/** URLs with a scheme, and `www.` without one. A sentence's full stop or bracket behind it is not part of it. */
export function detectUrl(text: string): Match[] {
  const matches: Match[] = [];
  for (const found of text.matchAll(URL)) {
    let length = found[0].length;
    while (length > 0 && isTrailing(found[0], length)) length--;
    matches.push({ start: found.index, end: found.index + length });
  }
  return matches;
}

function isTrailing(url: string, length: number): boolean {
  const last = url.charAt(length - 1);
  return ".,;:!?'*_".includes(last) || (last === ")" && !url.includes("("));
}
