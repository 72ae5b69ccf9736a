export type { MemoryOperation, MemoryRefresh, MemoryTtl } from "./operations.js";
export { type MemoryRetention, RedisStore, type RedisStoreOptions } from "./redis-store.js";
