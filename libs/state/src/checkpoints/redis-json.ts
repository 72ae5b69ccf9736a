/**
 * LangChain's own saver for Redis in place of ours, for who wants its layout. It needs modules, and it keeps fewer
 * promises: docs/checkpoints.md lists which. Nothing of Drover's is in its keys but the thread's name.
 */
import { createHash } from "node:crypto";
import { DroverError, type Lease } from "@drover/contracts";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { Redis } from "../connect.js";
import type { Keys } from "../keys.js";
import { leaseLost } from "../refusals.js";
import type { ThreadRef } from "../transitions.js";

/** A command of each module that the saver calls. */
const MODULES = { "JSON.SET": "RedisJSON", "FT.SEARCH": "RediSearch" } as const;

/** Throws INVALID_CONFIG that names what is missing. */
export async function assertJsonModules(redis: Redis): Promise<void> {
  const commands = Object.keys(MODULES) as (keyof typeof MODULES)[];
  const known = (await redis.command("INFO", ...commands)) as (unknown[] | null)[];
  const missing = commands.filter((_, i) => !known[i]?.length).map((command) => MODULES[command]);
  if (missing.length === 0) return;
  throw new DroverError(
    "INVALID_CONFIG",
    `DROVER_CHECKPOINTS=redis-json needs a Redis with ${Object.values(MODULES).join(" and ")}; this one has no ${missing.join(" and no ")}. Use Redis 8 or Redis Stack, or leave the setting out: the default needs no module.`,
  );
}

export interface RedisJson {
  saverOf(tenant: string, lease?: Lease): BaseCheckpointSaver;
  close(): Promise<void>;
}

export interface RedisJsonOptions {
  redis: Redis;
  keys: Keys;
  /** One address, or several of a Cluster with commas. */
  url: string;
  /** Seconds for which checkpoints are kept from their last use on. */
  retentionSeconds: number;
}

/** Throws INVALID_CONFIG where the server lacks the modules: LangChain's saver would only log that, and fail later. */
export async function openRedisJson({
  redis,
  keys,
  url,
  retentionSeconds,
}: RedisJsonOptions): Promise<RedisJson> {
  await assertJsonModules(redis);
  const { RedisSaver } = await import("@langchain/langgraph-checkpoint-redis");
  const life = { defaultTTL: retentionSeconds / 60, refreshOnRead: true };
  const urls = url.split(",").map((one) => ({ url: one.trim() }));
  const [only, ...others] = urls;
  const saver =
    only && others.length === 0
      ? await RedisSaver.fromUrl(only.url, life)
      : await RedisSaver.fromCluster(urls, life);
  return {
    saverOf: (tenant, lease) => new NamedSaver(saver, redis, keys, tenant, lease),
    close: () => saver.end(),
  };
}

/** A thread's name in that saver's keys: no character of it means anything to a pattern or a query. */
export function jsonThreadName(keys: Keys, { tenant, threadId }: ThreadRef): string {
  return createHash("sha256")
    .update(JSON.stringify([keys.prefix, tenant, threadId]))
    .digest("hex");
}

/** How all keys of a thread begin there. */
export function jsonKeyStarts(keys: Keys, thread: ThreadRef): string[] {
  const name = jsonThreadName(keys, thread);
  return ["checkpoint", "checkpoint_blob", "checkpoint_write", "write_keys_zset"].map(
    (kind) => `${kind}:${name}:`,
  );
}

/** Threads under names of their own, and a look at the lease before each write. */
class NamedSaver extends BaseCheckpointSaver {
  constructor(
    private readonly inner: BaseCheckpointSaver,
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly tenant: string,
    private readonly lease: Lease | undefined,
  ) {
    super();
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await this.inner.getTuple(this.named(config));
    return tuple && this.ours(tuple, threadOf(config));
  }

  async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    const before = options?.before ? { before: this.named(options.before) } : {};
    for await (const tuple of this.inner.list(this.named(config), { ...options, ...before }))
      yield this.ours(tuple, threadOf(config));
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    versions: ChannelVersions,
  ): Promise<RunnableConfig> {
    await this.assertHeld();
    const stored = await this.inner.put(this.named(config), checkpoint, metadata, versions);
    return renamed(stored, threadOf(config));
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    await this.assertHeld();
    await this.inner.putWrites(this.named(config), writes, taskId);
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.assertHeld();
    await this.inner.deleteThread(jsonThreadName(this.keys, { tenant: this.tenant, threadId }));
  }

  /** Not in the script that writes, since there is none: a write that is on its way when the lease is lost arrives. */
  private async assertHeld(): Promise<void> {
    if (!this.lease) return;
    const { thread } = this.keys.thread(this.lease.tenant, this.lease.threadId);
    const [epoch, holder] = await this.redis.hmget(thread, "epoch", "holder");
    if (epoch !== String(this.lease.epoch) || holder !== this.lease.worker) throw leaseLost(this.lease);
  }

  private named(config: RunnableConfig): RunnableConfig {
    const threadId = threadOf(config);
    return renamed(config, jsonThreadName(this.keys, { tenant: this.tenant, threadId }));
  }

  private ours(tuple: CheckpointTuple, threadId: string): CheckpointTuple {
    const parent = tuple.parentConfig ? { parentConfig: renamed(tuple.parentConfig, threadId) } : {};
    return { ...tuple, config: renamed(tuple.config, threadId), ...parent };
  }
}

/** Throws INVALID_INPUT: there is no list across threads here. */
function threadOf({ configurable }: RunnableConfig): string {
  if (configurable?.thread_id) return String(configurable.thread_id);
  throw new DroverError(
    "INVALID_INPUT",
    "redis-json reads one thread at a time; pass configurable.thread_id.",
  );
}

const renamed = (config: RunnableConfig, threadId: string): RunnableConfig => ({
  ...config,
  configurable: { ...config.configurable, thread_id: threadId },
});
