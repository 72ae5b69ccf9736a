import { extname } from "node:path";

/** What is read, by extension. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".txt": "text/plain",
  ".text": "text/plain",
  ".md": "text/markdown",
  ".markdown": "text/markdown",
  ".html": "text/html",
  ".htm": "text/html",
  ".csv": "text/csv",
  ".tsv": "text/csv",
  ".json": "application/json",
  ".jsonl": "application/jsonl",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp",
  ".gif": "image/gif",
};

export const SUPPORTED_EXTENSIONS: readonly string[] = Object.keys(MEDIA_TYPES);

/** The media type of a file by its name; undefined if Drover doesn't read such files. */
export function mediaTypeOf(path: string): string | undefined {
  return MEDIA_TYPES[extname(path).toLowerCase()];
}
