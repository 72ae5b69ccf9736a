export { findRedisBinary } from "./binary.js";
export { type RedisCluster, startCluster } from "./cluster.js";
export { type EmbeddedRedis, embeddedRedis } from "./embedded.js";
export type { RedisOptions } from "./options.js";
export { type RedisServer, startRedis } from "./redis.js";
