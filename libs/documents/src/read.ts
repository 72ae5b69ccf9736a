import { type FileHandle, open } from "node:fs/promises";
import { isDroverError } from "@drover/contracts";
import { csvText } from "./csv.js";
import { decodeText } from "./decode.js";
import type { Document, DocumentRef, MediaBlock, MediaDocument } from "./document.js";
import { htmlText } from "./html.js";
import { assertImage } from "./image.js";
import { lineText } from "./jsonl.js";
import { mediaTypeOf, SUPPORTED_EXTENSIONS } from "./media-type.js";
import { pdfText } from "./pdf.js";
import { sizeInWords, unreadable } from "./unreadable.js";

export interface ReadOptions {
  /** Largest text of one document, and largest base64 of a picture, in bytes. Default 8 MiB. */
  maxTextBytes?: number;
}

export const DEFAULT_MAX_TEXT_BYTES = 8 * 1024 * 1024;
/** Markup and pages may weigh more than their text: this many times the limit of the text. */
const MARKUP_FACTOR = 4;

/**
 * Reads one document. Throws UNREADABLE_DOCUMENT, with the document's name and a reason that helps, if the file is
 * gone, empty, binary, broken, encrypted, of a type that is not read, or over the limit; it never throws anything
 * else, so that one bad document can't take others down.
 */
export async function readDocument(ref: DocumentRef, options: ReadOptions = {}): Promise<Document> {
  try {
    return await read(ref, options.maxTextBytes ?? DEFAULT_MAX_TEXT_BYTES);
  } catch (error) {
    if (isDroverError(error)) throw error;
    throw unreadable(ref.name, reasonOf(error), error);
  }
}

async function read(ref: DocumentRef, maxTextBytes: number): Promise<Document> {
  const mediaType = mediaTypeOf(ref.path);
  if (mediaType === undefined) {
    throw unreadable(
      ref.name,
      `files of this type are not read. Use one of ${SUPPORTED_EXTENSIONS.join(" ")}.`,
    );
  }
  const isMarkup = mediaType === "text/html" || mediaType === "application/pdf";
  const bytes = await readBytes(ref, maxTextBytes * (isMarkup ? MARKUP_FACTOR : 1));
  if (mediaType.startsWith("image/")) {
    assertImage(ref.name, mediaType, bytes);
    return mediaDocument(ref.name, mediaType, "image", bytes, maxTextBytes);
  }
  const text = await textOf(ref, mediaType, bytes, maxTextBytes);
  if (text === null) return mediaDocument(ref.name, mediaType, "file", bytes, maxTextBytes);
  if (text.trim() === "") throw unreadable(ref.name, "the document is empty.");
  if (Buffer.byteLength(text) > maxTextBytes) throw tooLarge(ref.name, maxTextBytes);
  return { name: ref.name, mediaType: ref.line ? "application/json" : mediaType, text };
}

/** The text of a document; null for a PDF that is pictures only. */
async function textOf(
  ref: DocumentRef,
  mediaType: string,
  bytes: Uint8Array,
  maxTextBytes: number,
): Promise<string | null> {
  if (mediaType === "application/pdf") return pdfText(ref.name, bytes, maxTextBytes);
  const text = decodeText(ref.name, bytes);
  if (ref.line) return lineText(ref.name, text);
  switch (mediaType) {
    case "text/html":
      return htmlText(text);
    case "text/csv":
      return csvText(ref.name, text);
    case "application/json":
      return jsonText(ref.name, text);
    default:
      return text;
  }
}

/** A JSON file must be JSON; a string in it is its own text, anything else stays as it is written. */
function jsonText(name: string, json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : json;
  } catch (error) {
    throw unreadable(
      name,
      "the file is not valid JSON. For one JSON value on each line, name it .jsonl.",
      error,
    );
  }
}

async function readBytes(ref: DocumentRef, limit: number): Promise<Uint8Array> {
  const file = await open(ref.path, "r");
  try {
    const start = ref.line?.start ?? 0;
    const size = (ref.line?.end ?? (await file.stat()).size) - start;
    if (size === 0) throw unreadable(ref.name, "the document is empty.");
    if (size > limit) throw tooLarge(ref.name, limit);
    return await readExactly(file, start, size);
  } finally {
    await file.close();
  }
}

async function readExactly(file: FileHandle, start: number, size: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function mediaDocument(
  name: string,
  mediaType: string,
  type: MediaBlock["type"],
  bytes: Uint8Array,
  maxBytes: number,
): MediaDocument {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  if (data.length > maxBytes) throw tooLarge(name, maxBytes);
  return { name, mediaType, blocks: [{ type, mimeType: mediaType, data }] };
}

function tooLarge(name: string, limit: number): Error {
  return unreadable(
    name,
    `it is larger than the limit of ${sizeInWords(limit)}. Split it, or raise the limit.`,
  );
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "the file is gone.";
  if (code === "EACCES" || code === "EPERM")
    return "the file may not be read by this user. Change its permissions.";
  if (code === "EISDIR") return "it is a folder.";
  return "the document could not be parsed.";
}
