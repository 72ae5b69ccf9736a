import type { Transition } from "@drover/contracts";
import { BatchStore } from "./batch-store.js";
import type { Redis } from "./connect.js";
import { DeadLetters } from "./dead-letters.js";
import { Indexes } from "./indexes.js";
import { createKeys, type Keys } from "./keys.js";
import { Marks } from "./marks.js";
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
  runs: RunStore;
  reader: RunReader;
  indexes: Indexes;
  batches: BatchStore;
  marks: Marks;
  workers: WorkerRegistry;
  deadLetters: DeadLetters;
  shares: Shares;
}

export interface StateOptions {
  redis: Redis;
  /** Default `drover`. */
  prefix?: string | undefined;
  retention?: Partial<Retention> | undefined;
  /** How often a run may end its worker before it is set aside. Default 3. */
  maxCrashes?: number | undefined;
  /** Called for each transition of which this process was the first to tell the indexes: once in the whole fleet. */
  onNews?: ((transition: Transition) => void) | undefined;
}

export function openState({ redis, prefix, retention: overrides, maxCrashes, onNews }: StateOptions): State {
  const keys = createKeys(prefix);
  const retention = { ...DEFAULT_RETENTION, ...overrides };
  return {
    redis,
    keys,
    retention,
    runs: new RunStore(redis, keys, retention, maxCrashes),
    reader: new RunReader(redis, keys),
    indexes: new Indexes(redis, keys, retention, onNews),
    batches: new BatchStore(redis, keys, retention),
    marks: new Marks(redis, keys),
    workers: new WorkerRegistry(redis, keys),
    deadLetters: new DeadLetters(redis, keys),
    shares: new Shares(redis, keys),
  };
}
