import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { DroverError } from "@drover/contracts";
import type { Codec } from "./codec.js";

export interface AesCodecOptions {
  /** Keys of 32 bytes by id; ids of at most 255 bytes are stored beside what they encrypt. */
  keys: Readonly<Record<string, Buffer>>;
  /** The id of the key that encrypts. The others only read. */
  current: string;
  /** Ids of keys that are gone on purpose: what they encrypted is given up. Default: none. */
  retired?: readonly string[];
  /** Whether bytes that are not encrypted are read as they are, for the time of a migration. Default false. */
  readPlain?: boolean;
}

/** A codec that can say which keys it has. */
export interface AesCodec extends Codec {
  readonly current: string;
  readonly has: (id: string) => boolean;
  readonly isRetired: (id: string) => boolean;
}

const MARK = 2;
const IV = 12;
const TAG = 16;

/**
 * AES-256-GCM with a random nonce for each text. Stored: mark, length of the key id, key id, nonce, tag, cipher text.
 *
 * @throws DroverError INVALID_CONFIG for a key of another size or a `current` without key; from decode if the key of
 *   a stored text is not there or the text was changed
 */
export function createAesCodec({
  keys,
  current,
  retired = [],
  readPlain = false,
}: AesCodecOptions): AesCodec {
  for (const [id, key] of Object.entries(keys)) {
    if (key.length !== 32) throw invalid(`The encryption key '${id}' has ${key.length} bytes; it needs 32.`);
    if (Buffer.byteLength(id) > 255) throw invalid("An encryption key's id has more than 255 bytes.");
  }
  const key = Object.hasOwn(keys, current) ? keys[current] : undefined;
  if (key === undefined)
    throw invalid(`There is no encryption key '${current}', the one that should encrypt.`);
  const id = Buffer.from(current);
  const head = Buffer.concat([Buffer.of(MARK, id.length), id]);

  return {
    current,
    has: (wanted) => Object.hasOwn(keys, wanted),
    isRetired: (wanted) => retired.includes(wanted),
    encode(plain) {
      const iv = randomBytes(IV);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(head);
      const text = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([head, iv, cipher.getAuthTag(), text]);
    },
    decode(stored) {
      if (stored[0] !== MARK) {
        if (readPlain) return stored;
        throw invalid(
          "What is stored here is not encrypted. Set readPlain (`plain` in DROVER_ENCRYPTION_KEYS) while what was stored before is still read.",
        );
      }
      const ivAt = 2 + (stored[1] ?? 0);
      const storedId = stored.toString("utf8", 2, ivAt);
      const storedKey = Object.hasOwn(keys, storedId) ? keys[storedId] : undefined;
      if (storedKey === undefined) {
        throw invalid(
          `What is stored here needs the encryption key '${storedId}'. Add it to DROVER_ENCRYPTION_KEYS.`,
        );
      }
      try {
        const decipher = createDecipheriv("aes-256-gcm", storedKey, stored.subarray(ivAt, ivAt + IV))
          .setAAD(stored.subarray(0, ivAt))
          .setAuthTag(stored.subarray(ivAt + IV, ivAt + IV + TAG));
        return Buffer.concat([decipher.update(stored.subarray(ivAt + IV + TAG)), decipher.final()]);
      } catch (cause) {
        throw new DroverError(
          "INVALID_CONFIG",
          `The encryption key '${storedId}' is not the one that encrypted, or what is stored was changed. Give every process the same DROVER_ENCRYPTION_KEYS.`,
          { cause },
        );
      }
    },
  };
}

function invalid(message: string): DroverError {
  return new DroverError("INVALID_CONFIG", message);
}
