import { createHash } from "node:crypto";
import { decodeId, encodeId } from "../keys.js";
import type { MemoryContext } from "./context.js";

/**
 * Where a namespace stands. Its elements are encoded and each ends with `/`, so that what is under a prefix is what
 * begins with its text: `a/` is no prefix of `ab/`. A tenant's namespaces are spread over shards by their first two
 * elements; each shard has a hash tag of its own. A search below two or more elements asks one shard, others all.
 */
const SHARDS = 16;
const END = "/";
/** The character after END. */
const PAST = "0";

export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard);

export function encodeNamespace(namespace: readonly string[]): string {
  return namespace.map((element) => encodeId(element) + END).join("");
}

export function decodeNamespace(encoded: string): string[] {
  return encoded.split(END).slice(0, -1).map(decodeId);
}

/** The first `depth` elements of an encoded namespace. */
export function cutNamespace(encoded: string, depth: number): string {
  let end = 0;
  for (let i = 0; i < depth; i += 1) {
    const next = encoded.indexOf(END, end);
    if (next === -1) return encoded;
    end = next + 1;
  }
  return encoded.slice(0, end);
}

export function shardOf(encoded: string): number {
  return (createHash("sha1").update(cutNamespace(encoded, 2)).digest()[0] ?? 0) % SHARDS;
}

/** The shards that can hold namespaces under an encoded prefix. */
export function shardsUnder(prefix: string): readonly number[] {
  const second = prefix.indexOf(END, prefix.indexOf(END) + 1);
  return prefix === "" || second === -1 ? ALL_SHARDS : [shardOf(prefix)];
}

/** Bounds of ZRANGEBYLEX for an encoded prefix. */
export function rangeUnder(prefix: string): [first: string, last: string] {
  return prefix === "" ? ["-", "+"] : [`[${prefix}`, `(${prefix.slice(0, -1)}${PAST}`];
}

/** The bound after everything under an encoded prefix. */
export function pastNamespace(prefix: string): string {
  return `[${prefix.slice(0, -1)}${PAST}`;
}

/** The key of a shard's namespaces; lua/memory/common.lua makes the others from it. No thread's tag has a `~`. */
export function shardKey({ keys, tenant }: MemoryContext, shard: number): string {
  return `${keys.prefix}:{${encodeId(tenant)}/~memory.${shard}}:n`;
}
