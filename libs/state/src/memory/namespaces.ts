import type { MatchCondition } from "@langchain/langgraph-checkpoint";
import { runScript } from "../scripts.js";
import { type MemoryContext, NAMES } from "./context.js";
import {
  cutNamespace,
  decodeNamespace,
  encodeNamespace,
  pastNamespace,
  rangeUnder,
  shardKey,
  shardsUnder,
} from "./layout.js";
import type { List } from "./operations.js";

/** The most namespaces that one script gives; fewer where they are cut, since what is below a cut is jumped over. */
const AT_ONCE = 500;
const AT_ONCE_CUT = 50;

/** The namespaces that hold items and fulfil all conditions, cut at `maxDepth`, each once, in the index's order. */
export async function listNamespaces(context: MemoryContext, op: List): Promise<string[][]> {
  if (op.limit === 0) return [];
  const prefix = longestPrefix(op.conditions);
  const found = await Promise.all(shardsUnder(prefix).map((shard) => listShard(context, shard, prefix, op)));
  const sorted = [...new Set(found.flat())].sort();
  return sorted.slice(op.offset, op.offset + op.limit).map(decodeNamespace);
}

/** The first of one shard, as many as a page could need of them. */
async function listShard(context: MemoryContext, shard: number, prefix: string, op: List): Promise<string[]> {
  const found: string[] = [];
  let [from, last] = rangeUnder(prefix);
  const count = op.maxDepth === undefined ? AT_ONCE : AT_ONCE_CUT;
  for (;;) {
    const names = await stretch(context, shard, from, last, count);
    for (const name of names) {
      from = `(${name}`;
      if (!op.conditions.every((one) => fulfils(decodeNamespace(name), one))) continue;
      const cut = op.maxDepth === undefined ? name : cutNamespace(name, op.maxDepth);
      if (cut !== name) from = pastNamespace(cut);
      if (found.at(-1) !== cut) found.push(cut);
      if (found.length === op.offset + op.limit) return found;
    }
    if (names.length < count) return found;
  }
}

async function stretch(
  context: MemoryContext,
  shard: number,
  from: string,
  last: string,
  count: number,
): Promise<string[]> {
  for (;;) {
    const reply = await runScript(context.redis, NAMES, [shardKey(context, shard)], [from, last, count]);
    const [expired, ...names] = reply as [number, ...Buffer[]];
    if (expired === 0) return names.map(String);
  }
}

/** The longest path without a wildcard with which every namespace asked for begins, encoded. */
function longestPrefix(conditions: readonly MatchCondition[]): string {
  let longest: string[] = [];
  for (const { matchType, path } of conditions) {
    if (matchType !== "prefix") continue;
    const wild = path.indexOf("*");
    const literal = wild === -1 ? path : path.slice(0, wild);
    if (literal.length > longest.length) longest = literal;
  }
  return encodeNamespace(longest);
}

function fulfils(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  const from = matchType === "prefix" ? 0 : namespace.length - path.length;
  if (path.length > namespace.length) return false;
  return path.every((element, i) => element === "*" || element === namespace[from + i]);
}
