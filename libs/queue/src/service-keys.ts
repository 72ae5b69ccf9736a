import { createHmac, timingSafeEqual } from "node:crypto";
import { DroverError } from "@drover/contracts";

/** Name of a service → its secrets, the one that signs first. A second one of a name is for the time of a change. */
export type ServiceKeys = ReadonlyMap<string, readonly string[]>;

const SHORTEST = 16;

/**
 * Reads `name=secret,name=secret`. A secret has at least 16 characters and no comma; `whsec_` and base64, the form of
 * Standard Webhooks, stands for the bytes. Throws INVALID_CONFIG, without the secret.
 */
export function parseServiceKeys(text: string | undefined): ServiceKeys {
  const keys = new Map<string, string[]>();
  for (const pair of (text ?? "").split(",").map((one) => one.trim())) {
    if (pair === "") continue;
    const [, name, secret] = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.*)$/.exec(pair) ?? [];
    if (name === undefined || secret === undefined || secret.length < SHORTEST) {
      throw new DroverError(
        "INVALID_CONFIG",
        `DROVER_SERVICE_KEYS: write name=secret, separated by commas; a secret has at least ${SHORTEST} characters.`,
      );
    }
    keys.set(name, [...(keys.get(name) ?? []), secret]);
  }
  return keys;
}

/** `v1,` and the base64 of HMAC-SHA256. */
export function signature(secret: string, text: string): string {
  return `v1,${createHmac("sha256", bytesOf(secret)).update(text).digest("base64")}`;
}

/** Compares in constant time. */
export function isSignedBy(keys: ServiceKeys, name: string, text: string, given: string): boolean {
  return (keys.get(name) ?? []).some((secret) => {
    const wanted = Buffer.from(signature(secret, text));
    const found = Buffer.from(given);
    return wanted.length === found.length && timingSafeEqual(wanted, found);
  });
}

function bytesOf(secret: string): Buffer {
  return secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret, "utf8");
}
