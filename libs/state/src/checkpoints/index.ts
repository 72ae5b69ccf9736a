export { type AesCodecOptions, createAesCodec } from "../encryption/aes-codec.js";
export type { Codec } from "../encryption/codec.js";
export { RedisSaver, type RedisSaverOptions } from "./redis-saver.js";
