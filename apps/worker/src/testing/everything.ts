import type { Redis } from "@drover/state";

/** All that a Redis holds, as one text: for tests that look for what must not be there. */
export async function everythingIn(redis: Redis): Promise<string> {
  const keys = await redis.keys("*");
  const values = await Promise.all(
    keys.map(async (key): Promise<unknown> => {
      switch (await redis.type(key)) {
        case "string":
          return redis.get(key);
        case "hash":
          return redis.hgetall(key);
        case "list":
          return redis.lrange(key, 0, -1);
        case "set":
          return redis.smembers(key);
        case "zset":
          return redis.zrange(key, 0, "-1");
        default:
          return redis.xrange(key, "-", "+");
      }
    }),
  );
  return JSON.stringify([keys, values]);
}
