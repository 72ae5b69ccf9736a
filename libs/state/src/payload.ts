import { deflateRawSync, inflateRawSync } from "node:zlib";
import { DroverError } from "@drover/contracts";

/** Bytes from which compressing pays. */
const COMPRESS_FROM = 1024;
const PLAIN = "j";
const DEFLATED = 0x7a;

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
 * JSON as bytes for Redis: one letter that says how, then the JSON, deflated where that pays.
 * A text where it is not deflated, which costs a client less to send. Throws INPUT_TOO_LARGE beyond the limit.
 */
export function encodePayload(value: unknown, limit?: SizeLimit): Payload {
  const json = JSON.stringify(value ?? null);
  const bytes = Buffer.byteLength(json);
  if (limit && bytes > limit.bytes) throw tooLarge(bytes, limit);
  if (bytes >= COMPRESS_FROM) return Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(json, { level: 1 })]);
  return `${PLAIN}${json}`;
}

export function decodePayload(bytes: Buffer): unknown {
  const body = bytes.subarray(1);
  return JSON.parse((bytes[0] === DEFLATED ? inflateRawSync(body) : body).toString("utf8"));
}

function tooLarge(bytes: number, limit: SizeLimit): DroverError {
  const mib = (n: number) => `${(n / 1024 / 1024).toFixed(1)} MiB`;
  return new DroverError(
    "INPUT_TOO_LARGE",
    `${limit.what} has ${mib(bytes)}; the limit is ${mib(limit.bytes)}. Send a reference to the data, split it, or raise DROVER_MAX_PAYLOAD_BYTES.`,
  );
}
