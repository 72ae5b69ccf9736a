import { createHmac, timingSafeEqual } from "node:crypto";
import { DroverError } from "@drover/contracts";

export interface ServiceKey {
  /** The one that signs first. A second one is for the time of a change. */
  secrets: readonly string[];
  /** The only tenant that the service speaks for, and whose notices its key signs; null for all. */
  tenant: string | null;
}

/** By the name of the service. */
export type ServiceKeys = ReadonlyMap<string, ServiceKey>;

const SHORTEST = 16;

/** The keys that may be used in a tenant's name. */
export function keyFor(keys: ServiceKeys, name: string, tenant: string): ServiceKey | undefined {
  const key = keys.get(name);
  return key && (key.tenant === null || key.tenant === tenant) ? key : undefined;
}

/**
 * Reads `name=secret,name@tenant=secret`. A secret has at least 16 characters and no comma; `whsec_` and base64, the form of
 * Standard Webhooks, stands for the bytes. Throws INVALID_CONFIG, without the secret.
 */
export function parseServiceKeys(text: string | undefined): ServiceKeys {
  const keys = new Map<string, ServiceKey>();
  for (const pair of (text ?? "").split(",").map((one) => one.trim())) {
    if (pair === "") continue;
    const [, name, tenant = null, secret] =
      /^([A-Za-z0-9][A-Za-z0-9_.-]{0,63})(?:@([A-Za-z0-9_.-]{1,64}))?=(.*)$/.exec(pair) ?? [];
    if (name === undefined || secret === undefined || secret.length < SHORTEST) {
      throw new DroverError(
        "INVALID_CONFIG",
        `DROVER_SERVICE_KEYS: write name=secret or name@tenant=secret, separated by commas; a secret has at least ${SHORTEST} characters.`,
      );
    }
    const known = keys.get(name);
    if (known && known.tenant !== tenant) {
      throw new DroverError(
        "INVALID_CONFIG",
        `DROVER_SERVICE_KEYS: '${name}' has keys of two tenants; give each tenant's service a name of its own.`,
      );
    }
    keys.set(name, { tenant, secrets: [...(known?.secrets ?? []), secret] });
  }
  return keys;
}

/** `v1,` and the base64 of HMAC-SHA256. */
export function signature(secret: string, text: string): string {
  return `v1,${createHmac("sha256", bytesOf(secret)).update(text).digest("base64")}`;
}

/** Compares in constant time. */
export function isSignedBy(keys: ServiceKeys, name: string, text: string, given: string): boolean {
  return (keys.get(name)?.secrets ?? []).some((secret) => {
    const wanted = Buffer.from(signature(secret, text));
    const found = Buffer.from(given);
    return wanted.length === found.length && timingSafeEqual(wanted, found);
  });
}

function bytesOf(secret: string): Buffer {
  return secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret, "utf8");
}
