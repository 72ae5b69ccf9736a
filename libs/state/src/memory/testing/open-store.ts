import type { Redis } from "../../connect.js";
import { createKeys } from "../../keys.js";
import { RedisStore, type RedisStoreOptions } from "../redis-store.js";

let tenants = 0;

/** A store of a tenant that no other test has. */
export function openStore(redis: Redis, options: Partial<RedisStoreOptions> = {}): RedisStore {
  tenants += 1;
  return new RedisStore({ redis, keys: createKeys(), tenant: `tenant ${tenants}`, ...options });
}

/** How many scripts Redis runs while `work` does its work. */
export async function scriptsDuring(redis: Redis, work: () => Promise<unknown>): Promise<number> {
  await redis.config("RESETSTAT");
  await work();
  const calls = /cmdstat_evalsha:calls=(\d+)/.exec(await redis.info("commandstats"));
  return Number(calls?.[1] ?? 0);
}

/** The names of Redis's keys that contain a text. */
export async function keysWith(redis: Redis, text: string): Promise<string[]> {
  return (await redis.keys("*")).filter((key) => key.includes(text)).sort();
}
