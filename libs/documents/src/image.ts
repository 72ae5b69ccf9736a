import { unreadable } from "./unreadable.js";

/** How files of each type begin. */
const SIGNATURES: Readonly<Record<string, RegExp>> = {
  "image/png": /^\x89PNG\r\n/,
  "image/jpeg": /^\xff\xd8\xff/,
  "image/gif": /^GIF8[79]a/,
  "image/webp": /^RIFF[\s\S]{4}WEBP/,
};

/** Throws UNREADABLE_DOCUMENT if the bytes are not a picture of that type. */
export function assertImage(name: string, mediaType: string, bytes: Uint8Array): void {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString("latin1");
  if (!SIGNATURES[mediaType]?.test(head)) {
    throw unreadable(name, `the file is not a ${mediaType} picture, whatever its name says.`);
  }
}
