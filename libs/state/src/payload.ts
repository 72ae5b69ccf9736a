import { deflateRawSync, inflateRawSync } from "node:zlib";
import { DroverError } from "@drover/contracts";

/** Bytes from which compressing pays. */
const COMPRESS_FROM = 1024;
const PLAIN = 0x6a;
const DEFLATED = 0x7a;

export const DEFAULT_MAX_PAYLOAD = 8 * 1024 * 1024;

/** JSON as bytes for Redis: one letter that says how, then the JSON, deflated where that pays. */
export function encodePayload(value: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(value ?? null));
  if (json.length < COMPRESS_FROM) return Buffer.concat([Buffer.of(PLAIN), json]);
  return Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(json, { level: 1 })]);
}

export function decodePayload(bytes: Buffer): unknown {
  const body = bytes.subarray(1);
  return JSON.parse((bytes[0] === DEFLATED ? inflateRawSync(body) : body).toString("utf8"));
}

/** Refuses what is larger than the limit, measured before compression. */
export function assertPayloadSize(value: unknown, limit: number, what: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
  if (bytes <= limit) return;
  const mib = (n: number) => `${(n / 1024 / 1024).toFixed(1)} MiB`;
  throw new DroverError(
    "INPUT_TOO_LARGE",
    `${what} has ${mib(bytes)}; the limit is ${mib(limit)}. Send a reference to the data, split it, or raise DROVER_MAX_PAYLOAD_BYTES.`,
  );
}
