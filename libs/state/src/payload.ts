import { deflateRawSync, inflateRawSync } from "node:zlib";
import { DroverError } from "@drover/contracts";
import type { Codec } from "./encryption/codec.js";
import { keysMissing } from "./encryption/sealed.js";

/** Bytes from which compressing pays. */
const COMPRESS_FROM = 1024;
const PLAIN = "j";
const DEFLATED = 0x7a;
const ENCRYPTED = 0x65;

export const DEFAULT_MAX_PAYLOAD = 8 * 1024 * 1024;

/** What `encodePayload` gives. */
export type Payload = Buffer | string;

export interface SizeLimit {
  /** Bytes of JSON, before compression. */
  bytes: number;
  /** What is too large then, as the message begins. */
  what: string;
}

/**
 * JSON as bytes for Redis: one letter that says how, then the JSON, deflated where that pays, and encrypted.
 * A text where it is neither, which costs a client less to send. Throws INPUT_TOO_LARGE beyond the limit.
 */
export function encodePayload(value: unknown, limit?: SizeLimit, codec?: Codec): Payload {
  const json = JSON.stringify(value ?? null);
  const bytes = Buffer.byteLength(json);
  if (limit && bytes > limit.bytes) throw tooLarge(bytes, limit);
  const plain =
    bytes >= COMPRESS_FROM
      ? Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(json, { level: 1 })])
      : `${PLAIN}${json}`;
  return codec ? Buffer.concat([Buffer.of(ENCRYPTED), codec.encode(Buffer.from(plain))]) : plain;
}

/** Throws INVALID_CONFIG where the key is missing or another. */
export function decodePayload(stored: Buffer, codec?: Codec): unknown {
  const bytes =
    stored[0] === ENCRYPTED ? decrypted(stored.subarray(1), codec) : (codec?.decode(stored) ?? stored);
  const body = bytes.subarray(1);
  return JSON.parse((bytes[0] === DEFLATED ? inflateRawSync(body) : body).toString("utf8"));
}

function decrypted(bytes: Buffer, codec: Codec | undefined): Buffer {
  if (codec) return codec.decode(bytes);
  throw keysMissing();
}

function tooLarge(bytes: number, limit: SizeLimit): DroverError {
  const mib = (n: number) => `${(n / 1024 / 1024).toFixed(1)} MiB`;
  return new DroverError(
    "INPUT_TOO_LARGE",
    `${limit.what} has ${mib(bytes)}; the limit is ${mib(limit.bytes)}. Send a reference to the data, split it, or raise DROVER_MAX_PAYLOAD_BYTES.`,
  );
}
