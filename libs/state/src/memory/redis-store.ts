import { NO_REDACTION, type Redactor } from "@drover/contracts";
import {
  BaseStore,
  type Item,
  type Operation,
  type OperationResults,
  type SearchItem,
  validateNamespace,
} from "@langchain/langgraph-checkpoint";
import { assertReachable, type Redis } from "../connect.js";
import type { Codec } from "../encryption/codec.js";
import type { Keys } from "../keys.js";
import { DEFAULT_MAX_PAYLOAD } from "../payload.js";
import { runScript } from "../scripts.js";
import { type MemoryContext, SWEEP } from "./context.js";
import { decodeItem } from "./item.js";
import { callItems, type ItemCall } from "./items-call.js";
import { ALL_SHARDS, shardKey } from "./layout.js";
import { listNamespaces } from "./namespaces.js";
import {
  type Checked,
  checkOperation,
  type Delete,
  type Get,
  type MemoryRefresh,
  type MemoryTtl,
  type Put,
  ttlMilliseconds,
} from "./operations.js";
import { search } from "./search.js";

export interface MemoryRetention {
  /** Minutes after its last put or read at which an item expires if its put does not say. Default: never. */
  ttlMinutes?: number;
  /** Whether a read starts an item's life anew if the read does not say. Default true, as LangGraph's protocol has it. */
  refreshOnRead?: boolean;
  /** Minutes between sweeps after `start`. Default 5. */
  sweepMinutes?: number;
}

export interface RedisStoreOptions {
  redis: Redis;
  keys: Keys;
  tenant: string;
  /** Applied to every value before it is stored. Default: none. */
  redactor?: Redactor;
  /** Encrypts values. Namespaces, keys and times stay readable. Default: none. */
  codec?: Codec;
  retention?: MemoryRetention;
  /** The most bytes that a value may have as JSON. Default 8 MiB. */
  maxValueBytes?: number;
}

const SWEPT_AT_ONCE = 500;
/** Beyond it a timer of Node goes off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * LangGraph's long-term memory on plain Redis 6.2 or later, single or Cluster: what one tenant's agents share across
 * threads. Behaves as LangGraph's InMemoryStore without an index; see DESIGN.md in this folder for the differences.
 *
 * @throws InvalidNamespaceError of LangGraph for a namespace that its rules refuse
 * @throws DroverError INVALID_INPUT for a semantic `query` (there is none yet) and for malformed operations,
 *   INPUT_TOO_LARGE, PII_BLOCKED
 */
export class RedisStore extends BaseStore {
  readonly #context: MemoryContext;
  readonly #sweepMs: number;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<unknown> | undefined;

  constructor(options: RedisStoreOptions) {
    super();
    const { redis, keys, tenant, redactor = NO_REDACTION, codec, retention = {} } = options;
    const { ttlMinutes = null, refreshOnRead = true, sweepMinutes = 5 } = retention;
    const { maxValueBytes = DEFAULT_MAX_PAYLOAD } = options;
    const ttlMs = ttlMilliseconds(ttlMinutes);
    this.#sweepMs = Math.min(ttlMilliseconds(sweepMinutes), LONGEST_TIMER_MS);
    this.#context = { redis, keys, tenant, redactor, codec, ttlMs, refreshOnRead, maxValueBytes };
  }

  /**
   * All reads see the store as it was before the batch's puts, of several puts of one item the last counts, and
   * nothing is sent if an operation is malformed. Gets and puts leave in one flight, one script for each shard.
   * Operations may also have `ttl` and `refreshTtl`: MemoryOperation.
   */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const checked = operations.map((op) => checkOperation(this.#context, op));
    const results: unknown[] = checked.map(() => null);
    await Promise.all(
      checked.map(async (op, i) => {
        if (op.kind === "search") results[i] = await search(this.#context, op);
        if (op.kind === "list") results[i] = await listNamespaces(this.#context, op);
      }),
    );
    await this.#callItems(checked, results);
    return results as OperationResults<Op>;
  }

  override async get(namespace: string[], key: string, options: MemoryRefresh = {}): Promise<Item | null> {
    validateNamespace(namespace, { allowEmpty: true, allowReservedRoot: true });
    const [item] = await this.batch([{ namespace, key, ...options }]);
    return item ?? null;
  }

  override async search(
    namespacePrefix: string[],
    options: Parameters<BaseStore["search"]>[1] & MemoryRefresh = {},
  ): Promise<SearchItem[]> {
    const [items = []] = await this.batch([{ namespacePrefix, ...options }]);
    return items;
  }

  /** `index` has no effect: there is no semantic search yet. */
  override async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
    options: MemoryTtl = {},
  ): Promise<void> {
    validateNamespace(namespace);
    await this.batch([{ namespace, key, value, ...(index === undefined ? {} : { index }), ...options }]);
  }

  /** Takes out what expired items have left in the indexes. Gives their number. */
  async sweep(): Promise<number> {
    const { redis } = this.#context;
    let all = 0;
    for (const shard of ALL_SHARDS) {
      for (;;) {
        const swept = Number(
          await runScript(redis, SWEEP, [shardKey(this.#context, shard)], [SWEPT_AT_ONCE]),
        );
        all += swept;
        if (swept < SWEPT_AT_ONCE) break;
      }
    }
    return all;
  }

  /** Checks that Redis answers and sweeps from time to time. Everything else works without it. */
  override async start(): Promise<void> {
    await assertReachable(this.#context.redis);
    this.#timer ??= setInterval(() => {
      // What one sweep leaves because Redis is away, the next one takes.
      this.#sweeping ??= this.sweep()
        .catch(() => undefined)
        .finally(() => {
          this.#sweeping = undefined;
        });
    }, this.#sweepMs).unref();
  }

  /** Ends the sweeps. The connection is the caller's and stays open. */
  override async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#sweeping;
  }

  async #callItems(checked: readonly Checked[], results: unknown[]): Promise<void> {
    const gets = [...checked.entries()].filter((entry): entry is [number, Get] => entry[1].kind === "get");
    const writes = new Map<string, Put | Delete>();
    for (const op of checked) {
      if (op.kind === "put" || op.kind === "delete") writes.set(`${op.namespace} ${op.key}`, op);
    }
    const calls: ItemCall[] = [
      ...gets.map(([, op]): ItemCall => [op.refresh ? "r" : "g", op.namespace, op.key]),
      ...[...writes.values()].map(callOf),
    ];
    if (calls.length === 0) return;
    const records = await callItems(this.#context, calls);
    for (const [n, [i, { namespace, key }]] of gets.entries()) {
      const record = records[n];
      if (record) results[i] = decodeItem(this.#context, namespace, key, record);
    }
  }
}

function callOf(op: Put | Delete): ItemCall {
  return op.kind === "put" ? ["p", op.namespace, op.key, op.ttlMs, op.value] : ["d", op.namespace, op.key];
}
