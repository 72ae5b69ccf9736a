import { DroverError } from "@drover/contracts";
import { leaseLost } from "../refusals.js";
import { runScript, type ScriptArg } from "../scripts.js";
import { type CheckpointContext, checkpointKeys, fence, newToken, RESTORE } from "./context.js";
import { registerThread } from "./thread-index.js";
import { namespacesOf } from "./thread-life.js";
import type { ThreadQueue } from "./thread-queue.js";

/** All that a thread's checkpoints are in Redis. */
export interface ThreadImage {
  bodies: (string | Buffer)[];
  refs: Buffer;
  hasEarlyWrites: boolean;
  namespaces: { name: string; head: string; log: (string | Buffer)[] }[];
}

/** Reads an image as of one moment; undefined if the thread has no checkpoints. */
export async function readImage(
  context: CheckpointContext,
  threadId: string,
): Promise<ThreadImage | undefined> {
  const keys = checkpointKeys(context, threadId);
  for (;;) {
    const names = await namespacesOf(context, threadId);
    const commands = context.redis
      .multi()
      .hgetall(keys.meta)
      .lrangeBuffer(keys.bodies, 0, -1)
      .getBuffer(keys.refs);
    for (const name of names) commands.lrangeBuffer(keys.log(name), 0, -1);
    const replies = ((await commands.exec()) ?? []).map(([error, reply]) => {
      if (error !== null) throw error;
      return reply;
    });
    const [meta, bodies, refs, ...logs] = replies as [
      Record<string, string>,
      Buffer[],
      Buffer | null,
      ...Buffer[][],
    ];
    if (meta.t === undefined) return undefined;
    if (Object.keys(meta).filter((field) => field.startsWith("h:")).length !== names.length) continue;
    return {
      bodies,
      refs: refs ?? Buffer.alloc(0),
      hasEarlyWrites: meta.q === "1",
      namespaces: names.map((name, i) => ({ name, head: meta[keys.head(name)] ?? "", log: logs[i] ?? [] })),
    };
  }
}

export async function copyThread(source: ThreadQueue, target: ThreadQueue): Promise<void> {
  await source.settled();
  await target.settled();
  const image = await readImage(source.context, source.threadId);
  if (image === undefined) {
    throw new DroverError("UNKNOWN_THREAD", `Thread '${source.threadId}' has no checkpoints to copy.`);
  }
  target.forget();
  await registerThread(target.context, target.threadId);
  if (await writeImage(target.context, target.threadId, image, "")) return;
  throw new DroverError(
    "INVALID_INPUT",
    `Thread '${target.threadId}' has checkpoints; copy to a thread that has none, or delete them first.`,
  );
}

/**
 * Writes an image in place of the thread whose token is `token` (an empty one: where nothing is). False if somebody
 * wrote meanwhile. @throws DroverError LEASE_LOST
 */
export async function writeImage(
  context: CheckpointContext,
  threadId: string,
  image: ThreadImage,
  token: string,
): Promise<boolean> {
  const keys = checkpointKeys(context, threadId);
  const { namespaces, bodies, refs, hasEarlyWrites } = image;
  const args: ScriptArg[] = [
    ...fence(context.lease),
    token,
    newToken(),
    newToken(),
    context.retentionSeconds,
    refs,
    hasEarlyWrites ? 1 : 0,
    bodies.length,
    ...bodies,
    ...namespaces.flatMap(({ name, head, log }) => [keys.head(name), head, log.length, ...log]),
  ];
  const [what] = (await runScript(
    context.redis,
    RESTORE,
    [keys.meta, keys.bodies, keys.refs, keys.thread, ...namespaces.map(({ name }) => keys.log(name))],
    args,
  )) as [Buffer];
  if (String(what) === "LOST" && context.lease !== undefined) throw leaseLost(context.lease);
  return String(what) === "OK";
}
