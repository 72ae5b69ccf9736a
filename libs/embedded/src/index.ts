export { findRedisBinary } from "./binary.js";
export { type RedisCluster, startCluster } from "./cluster.js";
export { type RedisOptions, type RedisServer, startRedis } from "./redis.js";
