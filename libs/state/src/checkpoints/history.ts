import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointListOptions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { type CheckpointContext, checkpointKeys } from "./context.js";
import type { Decoder } from "./decode.js";
import { LogReader, type Recorded } from "./log.js";
import type { MessageBodies } from "./message-bodies.js";
import { pendingWritesOf } from "./pending-writes.js";
import { lowestOf } from "./state.js";
import { threadsOf } from "./thread-index.js";
import { namespacesOf, readOlderBodies } from "./thread-life.js";
import type { ThreadQueue } from "./thread-queue.js";
import type { Threads } from "./threads.js";
import { addSends, decoderFor, makeTuple, needsSends } from "./tuple.js";

/**
 * Checkpoints, newest first within a namespace by the order in which they were stored, whatever clocks said. The
 * log is read in pages and the values of bodies are shared between the tuples of one call: treat them as read-only.
 */
export async function* listCheckpoints(
  context: CheckpointContext,
  threads: Threads,
  messages: MessageBodies,
  config: RunnableConfig,
  options: CheckpointListOptions,
): AsyncGenerator<CheckpointTuple> {
  const { thread_id, checkpoint_ns } = config.configurable ?? {};
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  const threadIds = thread_id === undefined || thread_id === "" ? threadsOf(context) : [String(thread_id)];
  for await (const threadId of threadIds) {
    const queue = threads.queue(threadId);
    await queue.settled();
    const namespaces = checkpoint_ns === undefined ? await namespacesOf(context, threadId) : [checkpoint_ns];
    for (const namespace of namespaces) {
      if (left <= 0) return;
      for await (const tuple of listNamespace(queue, messages, namespace, config, options)) {
        yield tuple;
        left -= 1;
        if (left <= 0) return;
      }
    }
  }
}

async function* listNamespace(
  queue: ThreadQueue,
  messages: MessageBodies,
  namespace: string,
  config: RunnableConfig,
  { before, filter }: CheckpointListOptions,
): AsyncGenerator<CheckpointTuple> {
  const { view } = await queue.load(namespace, undefined);
  const { length = 0, hasEarlyWrites } = view.namespace(namespace);
  if (length === 0) return;
  const { context, threadId } = queue;
  const isBefore = await beforeTest(context, threadId, namespace, before?.configurable?.checkpoint_id);
  const only: string | undefined = config.configurable?.checkpoint_id;
  const reader = new LogReader(context, threadId, namespace, length);
  const decoder = decoderFor(view, messages, true);
  for await (const { state, writes, lowest } of reader.newestFirst(hasEarlyWrites)) {
    if ((only !== undefined && state.id !== only) || !isBefore(state.id, state.position)) continue;
    if (!(await matches(state.metadata, filter, decoder))) continue;
    await readOlderBodies(context, threadId, view, Math.min(lowest, lowestOf(state)));
    const tuple = await makeTuple(threadId, namespace, state, writes, decoder);
    if (needsSends(state)) {
      const parent = await queue.load(namespace, state.parent);
      addSends(tuple, await pendingWritesOf(parent.writes, (text) => decoder.decode(text)));
    }
    yield tuple;
    if (only !== undefined) return;
  }
}

/** Before a checkpoint of the same namespace is what was stored earlier; other ids compare as they are. */
async function beforeTest(
  context: CheckpointContext,
  threadId: string,
  namespace: string,
  id: string | undefined,
): Promise<(id: string, position: number) => boolean> {
  if (id === undefined) return () => true;
  const places = (await context.redis.lpos(
    checkpointKeys(context, threadId).log(namespace),
    id,
    "RANK",
    -1,
    "COUNT",
    0,
  )) as unknown as number[];
  const place = places.find((one) => one % 2 === 0);
  return place === undefined ? (one) => one < id : (_, position) => position < place / 2;
}

async function matches(
  metadata: Recorded["state"]["metadata"],
  filter: Record<string, unknown> | undefined,
  decoder: Decoder,
): Promise<boolean> {
  for (const [key, wanted] of Object.entries(filter ?? {})) {
    const stored = metadata.get(key);
    if ((stored === undefined ? undefined : await decoder.decode(stored.text)) !== wanted) return false;
  }
  return true;
}
