import { unreadable } from "./unreadable.js";

/** How many bytes from the start decide whether a file that isn't UTF-8 is text in an older encoding. */
const SAMPLE_BYTES = 64 * 1024;
/** Largest share of control characters in text. */
const CONTROL_SHARE = 0.001;

/**
 * Bytes as text: UTF-8, UTF-16 with a byte order mark, else Western European (windows-1252) if it looks like text.
 * Throws UNREADABLE_DOCUMENT for binary data and for text that holds nothing.
 */
export function decodeText(name: string, bytes: Uint8Array): string {
  const text = decode(name, bytes);
  if (text.trim() === "") throw unreadable(name, "the document is empty.");
  return text;
}

function decode(name: string, bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (looksBinary(bytes)) {
    throw unreadable(
      name,
      "it holds binary data, not text. Give it its right extension, or save it as UTF-8 text.",
    );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let controls = 0;
  for (const byte of sample) {
    if (byte === 0) return true;
    if ((byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f) controls++;
  }
  return controls > sample.length * CONTROL_SHARE;
}
