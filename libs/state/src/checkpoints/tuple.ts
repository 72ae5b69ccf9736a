import {
  type ChannelVersions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import { Decoder } from "./decode.js";
import type { MessageBodies } from "./message-bodies.js";
import { pendingWritesOf } from "./pending-writes.js";
import type { CheckpointState } from "./state.js";
import type { ThreadQueue } from "./thread-queue.js";
import type { Rendered, ThreadView } from "./thread-view.js";
import { nextVersion } from "./versions.js";

/** Reads a checkpoint, without an id the head. Sees everything that was handed to the saver before. */
export async function loadTuple(
  queue: ThreadQueue,
  messages: MessageBodies,
  namespace: string,
  id: string | undefined,
): Promise<CheckpointTuple | undefined> {
  const { state, writes, view } = await queue.load(namespace, id);
  if (state === undefined) return undefined;
  const decoder = decoderFor(view, messages);
  const tuple = await makeTuple(queue.threadId, namespace, state, writes, decoder);
  if (needsSends(state)) {
    const parent = await queue.load(namespace, state.parent);
    addSends(tuple, await pendingWritesOf(parent.writes, (text) => decoder.decode(text)));
  }
  return tuple;
}

export function decoderFor(view: ThreadView, messages: MessageBodies, share = false): Decoder {
  const read = (message: object, number: number, whole: boolean) =>
    messages.read(message, view.bodyAt(number), whole);
  return new Decoder(view, read, share);
}

export async function makeTuple(
  threadId: string,
  namespace: string,
  state: CheckpointState,
  writes: readonly string[],
  decoder: Decoder,
): Promise<CheckpointTuple> {
  const config = (checkpoint_id: string) => ({
    configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id },
  });
  const seen: Record<string, ChannelVersions> = {};
  for (const node of Object.keys(state.seen)) seen[node] = { ...state.seen[node] };
  const tuple: CheckpointTuple = {
    config: config(state.id),
    checkpoint: {
      v: state.v,
      id: state.id,
      ts: state.ts,
      channel_values: await decodeAll(state.values, decoder),
      channel_versions: { ...state.versions },
      versions_seen: seen,
    },
    metadata: (await decodeAll(state.metadata, decoder)) as CheckpointMetadata,
    pendingWrites: await pendingWritesOf(writes, (text) => decoder.decode(text)),
  };
  if (state.parent !== undefined) tuple.parentConfig = config(state.parent);
  return tuple;
}

/** Checkpoints before format 4 had their Sends in the writes of their parent. */
export function needsSends(state: CheckpointState): boolean {
  return state.v < 4 && state.parent !== undefined;
}

export function addSends(tuple: CheckpointTuple, parentWrites: readonly CheckpointPendingWrite[]): void {
  const { checkpoint } = tuple;
  checkpoint.channel_values[TASKS] = parentWrites
    .filter(([, channel]) => channel === TASKS)
    .map(([, , value]) => value);
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_versions[TASKS] =
    versions.length > 0 ? maxChannelVersion(...versions) : nextVersion(undefined);
}

async function decodeAll(
  texts: ReadonlyMap<string, Rendered>,
  decoder: Decoder,
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [key, { text }] of texts) values[key] = await decoder.decode(text);
  return values;
}
