/**
 * Texts that scripts carry without reading them: JSON as it is without a codec, else a mark and the encrypted bytes in
 * base64. Errors keep their code and their shape, since scripts read the code and pass the error on to events.
 */
import { DroverError, type ErrorInfo } from "@drover/contracts";
import { type Codec, pack, unpack } from "./codec.js";

/** Begins a sealed text; no JSON begins so. */
const MARK = "\u0002";

export function sealJson(value: unknown, codec: Codec | undefined): string {
  const json = JSON.stringify(value ?? null);
  return codec ? sealText(json, codec) : json;
}

/** @throws DroverError INVALID_CONFIG where the key is missing or another */
export function openJson(stored: string, codec: Codec | undefined): unknown {
  return JSON.parse(openText(stored, codec));
}

export function sealText(text: string, codec: Codec): string {
  const bytes = pack(text, codec);
  return MARK + (typeof bytes === "string" ? Buffer.from(bytes) : bytes).toString("base64");
}

export function openText(stored: string, codec: Codec | undefined): string {
  if (stored.startsWith(MARK)) {
    if (codec) return unpack(Buffer.from(stored.slice(MARK.length), "base64"), codec);
    throw keysMissing();
  }
  return codec ? codec.decode(Buffer.from(stored)).toString() : stored;
}

export function keysMissing(): DroverError {
  return new DroverError(
    "INVALID_CONFIG",
    "What is stored here is encrypted. Set DROVER_ENCRYPTION_KEYS as the workers have it.",
  );
}

export function sealError({ code, message }: ErrorInfo, codec: Codec | undefined): ErrorInfo {
  if (codec) return { code, message: sealText(message, codec) };
  // A message of somebody's own must not look like a sealed one.
  return { code, message: message.startsWith(MARK) ? ` ${message}` : message };
}

export function openError({ code, message }: ErrorInfo, codec: Codec | undefined): ErrorInfo {
  return { code, message: openText(message, codec) };
}
