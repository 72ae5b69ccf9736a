import { BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { StateSnapshot } from "@langchain/langgraph";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  MemorySaver,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";
import type { RedisSaver } from "../redis-saver.js";

/** Gives all writes to a MemorySaver and to a RedisSaver, and reads from the latter. */
export class TeeSaver extends BaseCheckpointSaver {
  readonly memory = new MemorySaver();

  constructor(public redis: RedisSaver) {
    super();
  }

  override getNextVersion(current: number | undefined): number {
    return this.redis.getNextVersion(current);
  }

  getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.redis.getTuple(config);
  }

  list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.redis.list(config, options);
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const both = [
      this.redis.put(config, checkpoint, metadata, newVersions),
      this.memory.put(config, checkpoint, metadata),
    ] as const;
    await Promise.all(both);
    return both[0];
  }

  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    task: string,
    path?: string,
  ): Promise<void> {
    await Promise.all([
      this.redis.putWrites(config, writes, task, path),
      this.memory.putWrites(config, writes, task, path),
    ]);
  }

  async deleteThread(threadId: string): Promise<void> {
    await Promise.all([this.redis.deleteThread(threadId), this.memory.deleteThread(threadId)]);
  }
}

/** Asserts that `redis` has each checkpoint of the thread as `memory` has it, listed and one by one. */
export async function expectSameHistory(
  memory: MemorySaver,
  redis: BaseCheckpointSaver,
  threadId: string,
): Promise<number> {
  const config = { configurable: { thread_id: threadId } };
  const wanted = await allOf(memory.list(config));
  const listed = await allOf(redis.list(config));
  expect([...listed.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [key, tuple] of wanted) {
    dropUnversioned(tuple);
    expect(plain(listed.get(key)), `listed ${key}`).toEqual(plain(tuple));
  }
  const keys = [...wanted.keys()];
  for (const key of keys.filter((_, i) => i < 3 || i % 5 === 0)) {
    const tuple = wanted.get(key) as CheckpointTuple;
    expect(plain(await redis.getTuple(tuple.config)), `loaded ${key}`).toEqual(plain(tuple));
  }
  for (const ns of new Set(
    [...wanted.values()].map((tuple) => String(tuple.config.configurable?.checkpoint_ns)),
  )) {
    const head = { configurable: { thread_id: threadId, checkpoint_ns: ns } };
    const wantedHead = await memory.getTuple(head);
    if (wantedHead !== undefined) dropUnversioned(wantedHead);
    expect(plain(await redis.getTuple(head))).toEqual(plain(wantedHead));
  }
  return wanted.size;
}

/** Channels without a version have their default; MemorySaver alone stores it. */
function dropUnversioned({ checkpoint }: CheckpointTuple): void {
  for (const channel of Object.keys(checkpoint.channel_values)) {
    if (!Object.hasOwn(checkpoint.channel_versions, channel)) delete checkpoint.channel_values[channel];
  }
}

async function allOf(tuples: AsyncGenerator<CheckpointTuple>): Promise<Map<string, CheckpointTuple>> {
  const all = new Map<string, CheckpointTuple>();
  for await (const tuple of tuples) {
    const { checkpoint_ns, checkpoint_id } = tuple.config.configurable ?? {};
    all.set(`${checkpoint_ns}/${checkpoint_id}`, tuple);
  }
  return all;
}

/** Asserts that two graphs, one on each saver, show the same states of the thread. */
export async function expectSameStates(
  graphs: readonly { getStateHistory(config: RunnableConfig): AsyncIterableIterator<StateSnapshot> }[],
  threadId: string,
): Promise<void> {
  const shown = graphs.map(async (graph) => {
    const states: unknown[] = [];
    for await (const state of graph.getStateHistory({ configurable: { thread_id: threadId } })) {
      states.push(plain(state));
    }
    return states;
  });
  const [one, other] = await Promise.all(shown);
  expect(one).toEqual(other);
}

/** A copy without classes: messages by what matters in them, whichever way they were loaded. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return { map: [...value].map(plain) };
  if (value instanceof Set) return { set: [...value].map(plain) };
  if (value instanceof Error) return { error: value.message };
  if (BaseMessage.isInstance(value)) {
    const { id, content, name, additional_kwargs, response_metadata } = value;
    const { tool_calls, tool_call_id, status, artifact, usage_metadata } = value as unknown as Record<
      string,
      unknown
    >;
    const type = `message ${value.getType()} ${value.constructor.name}`;
    const fields = { type, id, content, name, additional_kwargs, response_metadata };
    return plain({ ...fields, tool_calls, tool_call_id, status, artifact, usage_metadata });
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}
