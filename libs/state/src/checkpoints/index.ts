export { type AesCodecOptions, createAesCodec } from "../encryption/aes-codec.js";
export type { Codec } from "../encryption/codec.js";
export { jsonKeyStarts, openRedisJson, type RedisJson } from "./redis-json.js";
export { RedisSaver, type RedisSaverOptions } from "./redis-saver.js";
