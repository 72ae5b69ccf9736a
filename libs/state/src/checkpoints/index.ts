export { type AesCodecOptions, createAesCodec } from "./aes-codec.js";
export type { Codec } from "./codec.js";
export { RedisSaver, type RedisSaverOptions } from "./redis-saver.js";
