import { unpack } from "../encryption/codec.js";
import { decodeId } from "../keys.js";
import { asDroverError } from "../redis-errors.js";
import { leaseLost } from "../refusals.js";
import { runScript } from "../scripts.js";
import { type CheckpointContext, checkpointKeys, FORGET, fence } from "./context.js";
import { unregisterThread } from "./thread-index.js";
import type { ThreadView } from "./thread-view.js";

export async function namespacesOf(context: CheckpointContext, threadId: string): Promise<string[]> {
  const fields = await context.redis.hkeys(checkpointKeys(context, threadId).meta);
  return fields.filter((field) => field.startsWith("h:")).map((field) => decodeId(field.slice(2)));
}

/** Removes the checkpoints of a thread. @throws DroverError LEASE_LOST */
export async function forgetThread(context: CheckpointContext, threadId: string): Promise<void> {
  const keys = checkpointKeys(context, threadId);
  const script = [keys.meta, keys.bodies, keys.refs, keys.thread];
  const reply = (await runScript(context.redis, FORGET, script, fence(context.lease))) as Buffer[];
  if (String(reply[0]) === "LOST" && context.lease !== undefined) throw leaseLost(context.lease);
  await unregisterThread(context, threadId);
}

/** Reads the bodies that the view lacks, from `lowest` on. */
export async function readOlderBodies(
  context: CheckpointContext,
  threadId: string,
  view: ThreadView,
  lowest: number,
): Promise<void> {
  if (lowest >= view.from) return;
  const stored = await context.redis
    .lrangeBuffer(checkpointKeys(context, threadId).bodies, lowest, view.from - 1)
    .catch((error: unknown) => {
      throw asDroverError(error);
    });
  view.addStored(
    lowest,
    stored.map((bytes) => unpack(bytes, context.codec)),
  );
}
