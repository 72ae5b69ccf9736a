import type { RunnableConfig } from "@langchain/core/runnables";
import { type CheckpointTuple, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import type { RedisSaver } from "../redis-saver.js";

let step = 0;

/** Puts a checkpoint whose channels are all new. Returns its config. */
export async function putValues(
  saver: RedisSaver,
  at: { threadId: string; namespace?: string; parent?: RunnableConfig; id?: string },
  values: Record<string, unknown>,
): Promise<RunnableConfig> {
  step += 1;
  const before = at.parent === undefined ? undefined : await saver.get(at.parent);
  const version = saver.getNextVersion(undefined);
  const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, version]));
  const checkpoint = {
    ...emptyCheckpoint(),
    id: at.id ?? uuid6(step),
    channel_values: { ...before?.channel_values, ...values },
    channel_versions: { ...before?.channel_versions, ...versions },
  };
  const parent = at.parent?.configurable?.checkpoint_id;
  const configurable = {
    thread_id: at.threadId,
    checkpoint_ns: at.namespace ?? "",
    ...(parent === undefined ? {} : { checkpoint_id: parent }),
  };
  return saver.put({ configurable }, checkpoint, { source: "loop", step, parents: {} }, versions);
}

export async function valuesOf(
  saver: RedisSaver,
  config: RunnableConfig,
): Promise<Record<string, unknown> | undefined> {
  return (await saver.get(config))?.channel_values;
}

export async function listAll(
  saver: RedisSaver,
  configurable: object,
  options = {},
): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  for await (const tuple of saver.list({ configurable }, options)) tuples.push(tuple);
  return tuples;
}
