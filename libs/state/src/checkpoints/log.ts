import { unpack } from "../encryption/codec.js";
import { asDroverError } from "../redis-errors.js";
import { type CheckpointContext, checkpointKeys } from "./context.js";
import { readRow } from "./row.js";
import type { CheckpointState } from "./state.js";
import { headerBase, payloadOf } from "./thread-reader.js";

/** Records that are read together. */
const PAGE = 256;

interface Entry {
  key: string;
  record: Buffer;
}

export interface Recorded {
  state: CheckpointState;
  /** JSON of its writes' records, oldest first. */
  writes: string[];
  /** The lowest body that the writes need; Infinity if none. */
  lowest: number;
}

/**
 * A namespace's log in pages. What is at a position never changes, so pages that are read one after another fit
 * together while somebody appends.
 */
export class LogReader {
  readonly #pages = new Map<number, Promise<Entry[]>>();
  readonly #states = new Map<number, CheckpointState>();

  constructor(
    readonly context: CheckpointContext,
    readonly threadId: string,
    readonly namespace: string,
    readonly length: number,
  ) {}

  /** The record at a position; undefined if the thread was deleted meanwhile. */
  async entry(position: number): Promise<Entry | undefined> {
    const number = Math.floor(position / PAGE);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = this.#read(number);
      this.#pages.set(number, page);
    }
    return (await page)[position - number * PAGE];
  }

  async state(position: number): Promise<CheckpointState | undefined> {
    const chain: [number, Entry][] = [];
    let at: number | undefined = position;
    while (at !== undefined && !this.#states.has(at)) {
      const entry = await this.entry(at);
      if (entry === undefined) return undefined;
      chain.push([at, entry]);
      at = headerBase(entry.record);
    }
    let state = at === undefined ? undefined : this.#states.get(at);
    for (const [place, { key, record }] of chain.reverse()) {
      state = readRow(place, key, this.json(record), state);
      this.#states.set(place, state);
    }
    return state;
  }

  json(record: Buffer): string {
    return payloadOf(record, (bytes) => unpack(bytes, this.context.codec));
  }

  /** Checkpoints with their writes, from the end; of two with the same id only the newer. */
  async *newestFirst(hasEarlyWrites: boolean): AsyncGenerator<Recorded> {
    const writes = new Map<string, Buffer[]>();
    const collect = ({ key, record }: Entry) => {
      const of = writes.get(key);
      if (of === undefined) writes.set(key, [record]);
      else of.push(record);
    };
    const collected = hasEarlyWrites ? await this.#eachWrite(collect) : false;
    const seen = new Set<string>();
    for (let position = this.length - 1; position >= 0; position -= 1) {
      const entry = await this.entry(position);
      if (entry === undefined) return;
      if (!isCheckpoint(entry)) {
        if (!collected) collect(entry);
        continue;
      }
      if (seen.has(entry.key)) continue;
      seen.add(entry.key);
      const state = await this.state(position);
      if (state === undefined) return;
      const records = [
        ...(writes.get(`@${position}`) ?? []),
        ...(writes.get(`?${entry.key}`) ?? []),
      ].reverse();
      writes.delete(`@${position}`);
      yield {
        state,
        writes: records.map((record) => this.json(record)),
        lowest: Math.min(...records.map(lowestOfWrites)),
      };
    }
  }

  async states(): Promise<CheckpointState[]> {
    const states: CheckpointState[] = [];
    for (let position = 0; position < this.length; position += 1) {
      const entry = await this.entry(position);
      const state = entry !== undefined && isCheckpoint(entry) ? await this.state(position) : undefined;
      if (state !== undefined) states.push(state);
    }
    return states;
  }

  async #eachWrite(collect: (entry: Entry) => void): Promise<true> {
    for (let position = this.length - 1; position >= 0; position -= 1) {
      const entry = await this.entry(position);
      if (entry !== undefined && !isCheckpoint(entry)) collect(entry);
    }
    return true;
  }

  async #read(page: number): Promise<Entry[]> {
    const key = checkpointKeys(this.context, this.threadId).log(this.namespace);
    const last = Math.min((page + 1) * PAGE, this.length);
    const flat = await this.context.redis
      .lrangeBuffer(key, 2 * page * PAGE, 2 * last - 1)
      .catch((error: unknown) => {
        throw asDroverError(error);
      });
    const entries: Entry[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) {
      entries.push({ key: String(flat[i]), record: flat[i + 1] as Buffer });
    }
    return entries;
  }
}

function lowestOfWrites(record: Buffer): number {
  const lowest = record.toString("latin1", 1, record.indexOf(59));
  return lowest === "" ? Number.POSITIVE_INFINITY : Number(lowest);
}

function isCheckpoint({ record }: Entry): boolean {
  return record[0] === 80;
}

/** All states of a namespace. */
export async function readStates(
  context: CheckpointContext,
  threadId: string,
  namespace: string,
): Promise<CheckpointState[]> {
  const length = await context.redis.llen(checkpointKeys(context, threadId).log(namespace));
  return new LogReader(context, threadId, namespace, length / 2).states();
}
