export { type AesCodec, type AesCodecOptions, createAesCodec } from "./aes-codec.js";
export type { Codec } from "./codec.js";
export { assertSameKeys } from "./key-check.js";
export { parseEncryptionKeys } from "./key-list.js";
export { openJson, sealJson } from "./sealed.js";
