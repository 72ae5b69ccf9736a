import type { CheckpointPendingWrite, DeltaChannelHistory } from "@langchain/langgraph-checkpoint";
import { LogReader } from "./log.js";
import type { MessageBodies } from "./message-bodies.js";
import { settledWrites } from "./pending-writes.js";
import { lowestOf } from "./state.js";
import { readOlderBodies } from "./thread-life.js";
import type { ThreadQueue } from "./thread-queue.js";
import { decoderFor } from "./tuple.js";

/**
 * What each channel got on the way to a checkpoint: the writes of its ancestors, oldest first, from the nearest
 * ancestor that has a value of the channel, the seed. Walks the log backwards once, in pages.
 */
export async function deltaHistory(
  queue: ThreadQueue,
  messages: MessageBodies,
  namespace: string,
  id: string | undefined,
  channels: readonly string[],
): Promise<Record<string, DeltaChannelHistory>> {
  const { view, state: target } = await queue.load(namespace, id);
  const { length = 0, hasEarlyWrites } = view.namespace(namespace);
  const { context, threadId } = queue;
  const reader = new LogReader(context, threadId, namespace, length);
  const decoder = decoderFor(view, messages);
  const found = new Map(channels.map((channel) => [channel, [] as CheckpointPendingWrite[]]));
  const seeds = new Map<string, unknown>();
  let wanted = target?.parent;

  for await (const { state, writes, lowest } of reader.newestFirst(hasEarlyWrites)) {
    if (wanted === undefined || seeds.size === found.size) break;
    if (state.id !== wanted) continue;
    await readOlderBodies(context, threadId, view, Math.min(lowest, lowestOf(state)));
    for (const write of settledWrites(writes).reverse()) {
      if (!found.has(write.channel) || seeds.has(write.channel)) continue;
      found.get(write.channel)?.push([write.taskId, write.channel, await decoder.decode(write.text)]);
    }
    for (const channel of channels) {
      const value = state.values.get(channel);
      if (value !== undefined && !seeds.has(channel)) seeds.set(channel, await decoder.decode(value.text));
    }
    wanted = state.parent;
  }
  return Object.fromEntries(
    [...found].map(([channel, writes]) => [
      channel,
      seeds.has(channel)
        ? { writes: writes.reverse(), seed: seeds.get(channel) }
        : { writes: writes.reverse() },
    ]),
  );
}
