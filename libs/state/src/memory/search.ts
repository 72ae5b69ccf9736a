import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import { runScript } from "../scripts.js";
import { type MemoryContext, SCAN } from "./context.js";
import { passes } from "./filter.js";
import { decodeItem, ttlOf } from "./item.js";
import { callItems, type ItemCall } from "./items-call.js";
import { rangeUnder, shardKey, shardsUnder } from "./layout.js";
import type { Search } from "./operations.js";

/** The most items that one script looks at. */
const AT_ONCE = 250;

/** An item that was found; `record` is undefined where only its name is known, `item` where it is not decoded. */
interface Found {
  namespace: string;
  key: string;
  record: Buffer | undefined;
  item: Item | undefined;
}

/**
 * Items under a prefix: by namespace, then in the order in which they were made. Without a filter only the page's
 * values are read, and those of one shard in the first flight; with one, values are read until the page is full.
 */
export async function search(context: MemoryContext, op: Search): Promise<SearchItem[]> {
  if (op.limit === 0) return [];
  const shards = shardsUnder(op.prefix);
  const bare = op.filter !== undefined ? 0 : shards.length > 1 ? op.offset + op.limit : op.offset;
  const found = (await Promise.all(shards.map((shard) => findIn(context, shard, op, bare)))).flat();
  if (shards.length > 1)
    found.sort((a, b) => (a.namespace < b.namespace ? -1 : a.namespace > b.namespace ? 1 : 0));
  const page = found.slice(op.offset, op.offset + op.limit);
  const loaded = await loadMissing(context, op, page);
  return page.flatMap(({ namespace, key, record, item }, i) => {
    if (item !== undefined) return [item];
    const known = record ?? loaded[i];
    return known === undefined ? [] : [decodeItem(context, namespace, key, known)];
  });
}

/** The first matches of one shard, as many as a page could need of them; the first `bare` without their records. */
async function findIn(context: MemoryContext, shard: number, op: Search, bare: number): Promise<Found[]> {
  const wanted = op.offset + op.limit;
  const [first, last] = rangeUnder(op.prefix);
  const matches: Found[] = [];
  let cursor: { from: string; after: string } | undefined = { from: first, after: "" };
  while (cursor !== undefined && matches.length < wanted) {
    const count = op.filter === undefined ? Math.min(wanted - matches.length, AT_ONCE) : AT_ONCE;
    const args = [cursor.from, last, cursor.after, count, Math.max(bare - matches.length, 0)];
    const reply = (await runScript(context.redis, SCAN, [shardKey(context, shard)], args)) as Buffer[];
    const [namespace, place, ...rows] = reply;
    cursor = namespace?.length ? { from: `[${namespace}`, after: String(place) } : undefined;
    for (let i = 0; i < rows.length; i += 3) {
      const match = matchOf(context, op, rows.slice(i, i + 3));
      if (match !== undefined) matches.push(match);
    }
  }
  return matches;
}

function matchOf(context: MemoryContext, op: Search, [namespace, key, bytes]: Buffer[]): Found | undefined {
  const record = bytes?.length ? bytes : undefined;
  const found: Found = { namespace: String(namespace), key: String(key), record, item: undefined };
  if (op.filter === undefined || record === undefined) return found;
  found.item = decodeItem(context, found.namespace, found.key, record);
  return passes(found.item.value, op.filter) ? found : undefined;
}

/** Reads the records of a page that are not there yet, and starts the life of those that have one anew. */
async function loadMissing(
  context: MemoryContext,
  op: Search,
  page: readonly Found[],
): Promise<(Buffer | undefined)[]> {
  const records: (Buffer | undefined)[] = page.map(() => undefined);
  const calls: ItemCall[] = [];
  const positions: number[] = [];
  for (const [i, { namespace, key, record }] of page.entries()) {
    if (record === undefined) calls.push([op.refresh ? "r" : "g", namespace, key]);
    else if (op.refresh && ttlOf(record) > 0) calls.push(["t", namespace, key]);
    else continue;
    positions.push(i);
  }
  const replies = calls.length === 0 ? [] : await callItems(context, calls);
  for (const [n, i] of positions.entries()) records[i] = replies[n] ?? undefined;
  return records;
}
