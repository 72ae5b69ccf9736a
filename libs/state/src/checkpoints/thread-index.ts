import { decodeId, encodeId } from "../keys.js";
import { asDroverError } from "../redis-errors.js";
import { type CheckpointContext, checkpointKeys } from "./context.js";

/** Every this many registrations, those that have expired are taken out. */
const SWEPT_EVERY = 64;

/** Puts a thread into its tenant's index until its checkpoints expire. Expires itself after the last of them. */
export async function registerThread(context: CheckpointContext, threadId: string): Promise<void> {
  const { index } = checkpointKeys(context, threadId);
  const { retentionSeconds: retention } = context;
  const now = Math.floor(Date.now() / 1000);
  const commands = context.redis.pipeline();
  commands.zadd(index, retention === 0 ? "+inf" : now + retention, encodeId(threadId));
  if (retention > 0) commands.expire(index, retention + 60);
  if (Math.random() * SWEPT_EVERY < 1) commands.zremrangebyscore(index, "-inf", now);
  for (const [error] of (await commands.exec()) ?? []) if (error !== null) throw asDroverError(error);
}

export async function unregisterThread(context: CheckpointContext, threadId: string): Promise<void> {
  await context.redis.zrem(checkpointKeys(context, threadId).index, encodeId(threadId));
}

/** The tenant's threads that have checkpoints, in pages. */
export async function* threadsOf(context: CheckpointContext): AsyncGenerator<string> {
  const { index } = checkpointKeys(context, "");
  let cursor = "0";
  const seen = new Set<string>();
  do {
    const [next, flat] = await context.redis.zscan(index, cursor, "COUNT", 500);
    cursor = next;
    for (let i = 0; i < flat.length; i += 2) {
      const member = flat[i] as string;
      if (seen.has(member)) continue;
      seen.add(member);
      yield decodeId(member);
    }
  } while (cursor !== "0");
}
