import { DroverError, type Lease, NO_REDACTION, type RedactionPlace, type Redactor } from "@drover/contracts";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  getCheckpointId,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { Redis } from "../connect.js";
import type { Codec } from "../encryption/codec.js";
import type { Keys } from "../keys.js";
import type { Template } from "./body.js";
import type { CheckpointContext } from "./context.js";
import { deltaHistory } from "./delta-history.js";
import { type EncodeHooks, encodeValue } from "./encode.js";
import { listCheckpoints } from "./history.js";
import { MessageBodies } from "./message-bodies.js";
import { taskWrites } from "./pending-writes.js";
import { pruneThread } from "./prune.js";
import { copyThread } from "./thread-image.js";
import { forgetThread } from "./thread-life.js";
import type { ThreadWrite } from "./thread-write.js";
import { Threads } from "./threads.js";
import { loadTuple } from "./tuple.js";
import { nextVersion } from "./versions.js";

export interface RedisSaverOptions {
  redis: Redis;
  keys: Keys;
  tenant: string;
  /** With a lease, Redis refuses every write unless the thread's record has its epoch and its worker. */
  lease?: Lease;
  /** Whether the lease's thread had no checkpoints when it was claimed: then none are asked for. Default false. */
  isNewThread?: boolean;
  /** Applied to every text before it is stored: messages by their type, errors as `error`, the rest as `output`. */
  redactor?: Redactor;
  /** Encrypts what is stored. Default: none. */
  codec?: Codec;
  /** Seconds for which a thread's checkpoints are kept after the last write; 0, the default, is for ever. */
  retentionSeconds?: number;
}

/**
 * LangGraph's checkpoints on plain Redis 6.2 or later, single or Cluster. Each text is stored once per thread,
 * checkpoints are differences, lists share their beginnings; see DESIGN.md in this folder.
 *
 * @throws DroverError LEASE_LOST from put, putWrites and deleteThread when another worker has the thread
 */
export class RedisSaver extends BaseCheckpointSaver {
  readonly #context: CheckpointContext;
  readonly #redactor: Redactor;
  readonly #messages: MessageBodies;
  readonly #threads: Threads;

  constructor(options: RedisSaverOptions) {
    super();
    const { redis, keys, tenant, lease, codec, retentionSeconds = 0 } = options;
    this.#context = { redis, keys, tenant, lease, codec, retentionSeconds };
    this.#redactor = options.redactor ?? NO_REDACTION;
    this.#messages = new MessageBodies(this.#redactor);
    this.#threads = new Threads(this.#context, options.isNewThread ? lease?.threadId : undefined);
  }

  /** A string, although LangGraph's types have savers count in numbers: those repeat on two branches of a fork. */
  override getNextVersion(current: number | string | undefined): number {
    return nextVersion(current) as unknown as number;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id: threadId, checkpoint_ns: namespace = "" } = config.configurable ?? {};
    if (threadId === undefined || threadId === "") return undefined;
    const id = getCheckpointId(config);
    return loadTuple(
      this.#threads.queue(String(threadId)),
      this.#messages,
      namespace,
      id === "" ? undefined : id,
    );
  }

  async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    yield* listCheckpoints(this.#context, this.#threads, this.#messages, config, options ?? {});
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns: namespace = "", checkpoint_id: parent } = config.configurable ?? {};
    const threadId = required("put", "thread_id", thread_id);
    this.#messages.beginCall();
    const values = new Map<string, Template | undefined>();
    const others = new Map<string, Template>();
    const { channel_values, channel_versions } = checkpoint;
    for (const channel of Object.keys({ ...channel_versions, ...newVersions })) {
      const template = Object.hasOwn(channel_values, channel)
        ? this.#encode(channel_values[channel], channel === "__start__" ? "input" : "output")
        : undefined;
      if (Object.hasOwn(newVersions, channel)) values.set(channel, template);
      else if (template !== undefined) others.set(channel, template);
    }
    const write: ThreadWrite = {
      kind: "checkpoint",
      namespace,
      id: checkpoint.id,
      parent,
      ts: checkpoint.ts,
      v: checkpoint.v,
      versions: { ...channel_versions },
      seen: Object.fromEntries(
        Object.entries(checkpoint.versions_seen).map(([node, seen]) => [node, { ...seen }]),
      ),
      values,
      others,
      metadata: new Map(
        Object.entries(metadata).map(([key, value]) => [key, this.#encode(value, "metadata")] as const),
      ),
    };
    // LangGraph puts the first step's checkpoint when the input's is put, and starts no node before both are.
    await this.#threads.queue(threadId).add(write, { untilNext: metadata.source === "input" });
    return {
      configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: checkpoint.id },
    };
  }

  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const { thread_id, checkpoint_ns: namespace = "", checkpoint_id } = config.configurable ?? {};
    const threadId = required("putWrites", "thread_id", thread_id);
    const checkpointId = required("putWrites", "checkpoint_id", checkpoint_id);
    this.#messages.beginCall();
    const encode = (channel: string, value: unknown) =>
      this.#encode(value, channel === "__error__" ? "error" : channel === "__start__" ? "input" : "output");
    const task = taskWrites(writes, taskId, taskPath, encode);
    await this.#threads.queue(threadId).add({ kind: "writes", namespace, checkpointId, ...task });
  }

  /** Removes the checkpoints of the thread, in all namespaces. */
  async deleteThread(threadId: string): Promise<void> {
    const queue = this.#threads.queue(threadId);
    await queue.settled();
    queue.forget();
    await forgetThread(this.#context, threadId);
  }

  /**
   * Copies all checkpoints, in all namespaces, to a thread that has none.
   * @throws DroverError INVALID_INPUT if `target` has checkpoints, UNKNOWN_THREAD if `source` has none
   */
  async copyThread(source: string, target: string): Promise<void> {
    await copyThread(this.#threads.queue(source), this.#threads.queue(target));
  }

  /** Keeps the newest checkpoint of each namespace and drops the history, and with it what nothing needs any more. */
  async prune(threadId: string): Promise<void> {
    await pruneThread(this.#threads.queue(threadId));
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { thread_id: threadId, checkpoint_ns: namespace = "" } = options.config.configurable ?? {};
    if (options.channels.length === 0 || threadId === undefined) return {};
    const id = getCheckpointId(options.config);
    const queue = this.#threads.queue(String(threadId));
    return deltaHistory(queue, this.#messages, namespace, id === "" ? undefined : id, options.channels);
  }

  #encode(value: unknown, place: RedactionPlace): Template {
    const hooks: EncodeHooks = {
      message: (one) => this.#messages.bodyOf(one),
      messages: (list) => this.#messages.bodiesOf(list),
      text: (text) => this.#redactor.text(text, place),
    };
    return encodeValue(value, hooks);
  }
}

function required(what: string, field: string, value: unknown): string {
  if (value !== undefined && value !== null && value !== "") return String(value);
  throw new DroverError(
    "INVALID_INPUT",
    `${what} needs configurable.${field}. Pass it in the config, e.g. { configurable: { ${field}: "…" } }.`,
  );
}
