export type { Codec } from "./codec.js";
export { RedisSaver, type RedisSaverOptions } from "./redis-saver.js";
