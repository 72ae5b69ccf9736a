import type { Transition } from "@drover/contracts";
import { BatchStore } from "./batch-store.js";
import type { Redis } from "./connect.js";
import { DeadLetters } from "./dead-letters.js";
import type { AesCodec } from "./encryption/index.js";
import { Indexes } from "./indexes.js";
import { createKeys, type Keys } from "./keys.js";
import { Marks } from "./marks.js";
import { ReplyQueues } from "./reply-queues.js";
import { DEFAULT_RETENTION, type Retention } from "./retention.js";
import { RunReader } from "./run-reader.js";
import { RunStore } from "./run-store.js";
import { Shares } from "./shares.js";
import { WorkerRegistry } from "./worker-registry.js";

/** All that Drover remembers, over one connection. */
export interface State {
  redis: Redis;
  keys: Keys;
  retention: Retention;
  /** Encrypts what people and models write; undefined where nothing is encrypted. */
  codec: AesCodec | undefined;
  runs: RunStore;
  reader: RunReader;
  indexes: Indexes;
  batches: BatchStore;
  marks: Marks;
  workers: WorkerRegistry;
  deadLetters: DeadLetters;
  shares: Shares;
  replyQueues: ReplyQueues;
}

export interface StateOptions {
  redis: Redis;
  /** Default `drover`. */
  prefix?: string | undefined;
  retention?: Partial<Retention> | undefined;
  /** How many workers may die of a run before it is set aside; the last one worked on nothing else. Default 3. */
  maxCrashes?: number | undefined;
  /** Called for each transition of which this process was the first to tell the indexes: once in the whole fleet. */
  onNews?: ((transition: Transition) => void) | undefined;
  /** From `parseEncryptionKeys`. Default: nothing is encrypted. */
  codec?: AesCodec | undefined;
}

export function openState({
  redis,
  prefix,
  retention: overrides,
  maxCrashes,
  onNews,
  codec,
}: StateOptions): State {
  const keys = createKeys(prefix);
  const retention = { ...DEFAULT_RETENTION, ...overrides };
  return {
    redis,
    keys,
    retention,
    codec,
    runs: new RunStore(redis, keys, retention, maxCrashes, codec),
    reader: new RunReader(redis, keys, codec),
    indexes: new Indexes(redis, keys, retention, onNews),
    batches: new BatchStore(redis, keys, retention, codec),
    marks: new Marks(redis, keys),
    workers: new WorkerRegistry(redis, keys),
    deadLetters: new DeadLetters(redis, keys, codec),
    shares: new Shares(redis, keys),
    replyQueues: new ReplyQueues(redis, keys),
  };
}
