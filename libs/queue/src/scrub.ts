/**
 * Takes what is left of some ids out of everything that many threads share: lists, sets, counters' members, BullMQ's
 * jobs and streams. Looks into each key there is, so that a list that is added later is not forgotten.
 */
import { keysUnder, type Redis, type State } from "@drover/state";
import { INBOX_QUEUE } from "./inbox.js";

const PAGE = 1000;

/** Whether a name, a member or a value speaks of what is to go. @param name the key that it stands in */
export type IsTrace = (text: string, name: string) => boolean;

/** Gives how many names, members and entries were taken out. */
export async function scrub({ redis, keys }: State, isTrace: IsTrace): Promise<number> {
  let taken = 0;
  for (const start of [keys.index(""), `${keys.bull}:`]) {
    for await (const names of keysUnder(redis, start)) {
      for (const name of names) {
        // What was sent and not yet handled is no trace of what was, but a request for what will be.
        if (name.startsWith(`${keys.bull}:${INBOX_QUEUE}:`)) continue;
        taken += await scrubKey(redis, keys.index("run:"), name, (text) => isTrace(text, name));
      }
    }
  }
  return taken;
}

async function scrubKey(
  redis: Redis,
  runs: string,
  name: string,
  isTrace: (text: string) => boolean,
): Promise<number> {
  if (isTrace(name)) return redis.del(name);
  // A run's own entry speaks of nothing but that run.
  if (name.startsWith(runs)) return 0;
  switch (await redis.type(name)) {
    case "string": {
      const value = await redis.get(name);
      return value !== null && isTrace(value) ? redis.del(name) : 0;
    }
    case "hash":
      return scrubHash(redis, name, isTrace);
    case "zset":
      return scrubMembers(
        (cursor) => redis.zscan(name, cursor, "COUNT", PAGE),
        2,
        isTrace,
        (gone) => redis.zrem(name, ...gone),
      );
    case "set":
      return scrubMembers(
        (cursor) => redis.sscan(name, cursor, "COUNT", PAGE),
        1,
        isTrace,
        (gone) => redis.srem(name, ...gone),
      );
    case "list":
      return scrubList(redis, name, isTrace);
    case "stream":
      return scrubStream(redis, name, isTrace);
    default:
      return 0;
  }
}

/** A job is one hash: where a field of it speaks of what is to go, all of it does. Other hashes lose the field. */
async function scrubHash(redis: Redis, name: string, isTrace: (text: string) => boolean): Promise<number> {
  let cursor = "0";
  let taken = 0;
  do {
    const [next, flat] = await redis.hscan(name, cursor, "COUNT", PAGE);
    cursor = next;
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const [field = "", value = ""] = [flat[i], flat[i + 1]];
      if (!isTrace(field) && !isTrace(value)) continue;
      if (field === "data") return taken + (await redis.del(name));
      taken += await redis.hdel(name, field);
    }
  } while (cursor !== "0");
  return taken;
}

async function scrubMembers(
  scan: (cursor: string) => Promise<[string, string[]]>,
  stride: number,
  isTrace: (text: string) => boolean,
  remove: (members: string[]) => Promise<number>,
): Promise<number> {
  let cursor = "0";
  let taken = 0;
  do {
    const [next, flat] = await scan(cursor);
    cursor = next;
    const gone = flat.filter((member, i) => i % stride === 0 && isTrace(member));
    if (gone.length > 0) taken += await remove(gone);
  } while (cursor !== "0");
  return taken;
}

/** Readers of a batch's results count places in its list: a place stays, and is empty. */
async function scrubList(redis: Redis, name: string, isTrace: (text: string) => boolean): Promise<number> {
  let taken = 0;
  for (let from = 0; ; from += PAGE) {
    const page = await redis.lrange(name, from, from + PAGE - 1);
    for (const [i, member] of page.entries()) {
      if (!isTrace(member)) continue;
      taken += 1;
      if (name.endsWith(":ended")) await redis.lset(name, from + i, "");
    }
    if (page.length < PAGE) break;
  }
  if (taken > 0 && !name.endsWith(":ended")) {
    const gone = (await redis.lrange(name, 0, -1)).filter(isTrace);
    await Promise.all(gone.map((member) => redis.lrem(name, 0, member)));
  }
  return taken;
}

async function scrubStream(redis: Redis, name: string, isTrace: (text: string) => boolean): Promise<number> {
  const entries = await redis.xrange(name, "-", "+");
  const gone = entries.filter(([, fields]) => fields.some(isTrace)).map(([id]) => id);
  return gone.length > 0 ? redis.xdel(name, ...gone) : 0;
}
