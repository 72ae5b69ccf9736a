import { DroverError } from "@drover/contracts";
import type { Redis } from "../connect.js";
import type { Keys } from "../keys.js";
import type { AesCodec } from "./aes-codec.js";

const PROOF = Buffer.from("drover");

/**
 * Whether a process has the keys that the others have: each key leaves a text in Redis that only it can read. Called
 * before a process writes anything, so that none writes plain text, or what the others cannot read.
 *
 * @throws DroverError INVALID_CONFIG for a key that is missing or another
 */
export async function assertSameKeys(redis: Redis, keys: Keys, codec: AesCodec | undefined): Promise<void> {
  const name = keys.index("encryption");
  if (codec) await redis.hsetnx(name, codec.current, codec.encode(PROOF).toString("base64"));
  const proofs = Object.entries(await redis.hgetall(name));
  for (const [id, proof] of proofs) {
    if (codec?.isRetired(id)) continue;
    if (!codec?.has(id)) {
      throw new DroverError(
        "INVALID_CONFIG",
        `This Redis holds what the encryption key '${id}' encrypted, and DROVER_ENCRYPTION_KEYS does not have it. Add it, or write \`${id}=\` to give up what it encrypted.`,
      );
    }
    codec.decode(Buffer.from(proof, "base64"));
  }
}
