import { DroverError } from "@drover/contracts";
import { type AesCodec, createAesCodec } from "./aes-codec.js";

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const BYTES = 32;

/**
 * The codec that DROVER_ENCRYPTION_KEYS describes: `id=key` with commas, each key 32 bytes in base64 or hex. The first
 * one encrypts, all of them read. `id=` without a key gives up what it encrypted; the word `plain` lets what was stored
 * before encryption be read. Undefined where it is empty.
 *
 * @throws DroverError INVALID_CONFIG, whose message holds no key
 */
export function parseEncryptionKeys(text: string | undefined): AesCodec | undefined {
  const entries = (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);
  if (entries.length === 0) return undefined;
  const keys: Record<string, Buffer> = {};
  const retired: string[] = [];
  let current: string | undefined;
  for (const entry of entries.filter((one) => one !== "plain")) {
    const [id = "", key] = cutAt(entry, entry.indexOf("="));
    if (key === undefined || !NAME.test(id)) {
      throw invalid("is a list like `2026=<32 bytes in base64>,2025=<…>`; an id has letters, digits, _ . -");
    }
    if (Object.hasOwn(keys, id) || retired.includes(id)) throw invalid(`has the id '${id}' twice`);
    if (key === "") {
      retired.push(id);
      continue;
    }
    keys[id] = bytesOf(id, key);
    current ??= id;
  }
  if (current === undefined) throw invalid("has no key that could encrypt");
  return createAesCodec({ keys, current, retired, readPlain: entries.includes("plain") });
}

function cutAt(entry: string, at: number): [string, string?] {
  return at < 0 ? [entry] : [entry.slice(0, at), entry.slice(at + 1)];
}

function bytesOf(id: string, key: string): Buffer {
  const bytes = /^[0-9a-f]{64}$/i.test(key) ? Buffer.from(key, "hex") : Buffer.from(key, "base64");
  if (bytes.length === BYTES) return bytes;
  throw invalid(
    `has a key '${id}' of ${bytes.length} bytes; it needs ${BYTES}, for example from \`openssl rand -base64 32\``,
  );
}

function invalid(what: string): DroverError {
  return new DroverError("INVALID_CONFIG", `DROVER_ENCRYPTION_KEYS ${what}.`);
}
