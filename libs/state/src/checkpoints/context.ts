import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Lease } from "@drover/contracts";
import type { Redis } from "../connect.js";
import type { Codec } from "../encryption/codec.js";
import { encodeId, type Keys } from "../keys.js";
import type { Script } from "../scripts.js";

/** What all parts of a saver share. */
export interface CheckpointContext {
  redis: Redis;
  keys: Keys;
  tenant: string;
  lease: Lease | undefined;
  codec: Codec | undefined;
  /** Seconds after the last write; 0 keeps for ever. */
  retentionSeconds: number;
}

export interface CheckpointKeys {
  /** hash: token `t`, generation `g`, a head position `h:<namespace>` each, `q` if writes came before their checkpoint */
  meta: string;
  /** list of texts that are stored once: messages and other large values */
  bodies: string;
  /** string of body numbers, 4 bytes each, big-endian */
  refs: string;
  /** the thread's record, which has the lease */
  thread: string;
  /** list of keys and records in turn, one pair for each checkpoint or task's writes */
  log(namespace: string): string;
  /** The field of `meta` with the namespace's head. */
  head(namespace: string): string;
  /** sorted set of the tenant's threads, by the second at which they expire */
  index: string;
}

export function checkpointKeys({ keys, tenant }: CheckpointContext, threadId: string): CheckpointKeys {
  const { base, thread } = keys.thread(tenant, threadId);
  const meta = `${base}:cp`;
  return {
    meta,
    bodies: `${meta}:b`,
    refs: `${meta}:r`,
    thread,
    log: (namespace) => `${meta}:l:${encodeId(namespace)}`,
    head: (namespace) => `h:${encodeId(namespace)}`,
    index: keys.index(`checkpoint-threads:${encodeId(tenant)}`),
  };
}

/** The fence's arguments: the epoch and the worker, or two empty texts. */
export function fence(lease: Lease | undefined): [string, string] {
  return lease === undefined ? ["", ""] : [String(lease.epoch), lease.worker];
}

/** 48 random bits. randomUUID has a supply of them, which randomBytes does not. */
export function newToken(): string {
  return randomUUID().slice(-12);
}

function script(name: string): Script {
  const source = readFileSync(new URL(`../../lua/checkpoints/${name}.lua`, import.meta.url), "utf8");
  return { name, source, sha: createHash("sha1").update(source).digest("hex") };
}

export const APPEND = script("append");
export const LOAD = script("load");
export const FORGET = script("forget");
export const RESTORE = script("restore");
