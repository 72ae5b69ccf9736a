import { DroverError } from "@drover/contracts";
import {
  type GetOperation,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type PutOperation,
  type SearchOperation,
  validateNamespace,
} from "@langchain/langgraph-checkpoint";
import type { MemoryContext } from "./context.js";
import { assertFilter, type Filter } from "./filter.js";
import { encodeValue } from "./item.js";
import { encodeNamespace } from "./layout.js";

/** What LangGraph's operations may say here beyond their types. */
export interface MemoryTtl {
  /** Minutes after the last put or read at which the item expires; null is never. Default: the store's. */
  ttl?: number | null;
}
export interface MemoryRefresh {
  /** Whether a read item's life begins anew. Default: the store's `refreshOnRead`. */
  refreshTtl?: boolean;
}
export type MemoryOperation =
  | (GetOperation & MemoryRefresh)
  | (SearchOperation & MemoryRefresh)
  | (PutOperation & MemoryTtl)
  | ListNamespacesOperation;

/** Checked operations; namespaces are encoded. */
export interface Get {
  kind: "get";
  namespace: string;
  key: string;
  refresh: boolean;
}
export interface Put {
  kind: "put";
  namespace: string;
  key: string;
  ttlMs: number;
  value: string | Buffer;
}
export interface Delete {
  kind: "delete";
  namespace: string;
  key: string;
}
export interface Search {
  kind: "search";
  prefix: string;
  filter: Filter | undefined;
  limit: number;
  offset: number;
  refresh: boolean;
}
export interface List {
  kind: "list";
  conditions: readonly MatchCondition[];
  maxDepth: number | undefined;
  limit: number;
  offset: number;
}
export type Checked = Get | Put | Delete | Search | List;

/**
 * An operation, checked and made ready, before anything of its batch is sent.
 *
 * @throws InvalidNamespaceError of LangGraph, by its rules, as its InMemoryStore does
 * @throws DroverError INVALID_INPUT, INPUT_TOO_LARGE; PII_BLOCKED from the redactor
 */
export function checkOperation(context: MemoryContext, op: Operation): Checked {
  if ("namespacePrefix" in op) return checkSearch(context, op);
  if ("value" in op) return checkPut(context, op);
  if ("namespace" in op) return checkGet(context, op);
  return checkList(op);
}

function checkGet(context: MemoryContext, op: GetOperation & MemoryRefresh): Get {
  const refresh = op.refreshTtl ?? context.refreshOnRead;
  return { kind: "get", namespace: namespaceOf(op.namespace), key: keyOf(op.key), refresh };
}

function checkPut(context: MemoryContext, op: PutOperation & MemoryTtl): Put | Delete {
  const namespace = namespaceOf(op.namespace);
  const key = keyOf(op.key);
  if (op.value === null) return { kind: "delete", namespace, key };
  for (const name of [...op.namespace, key]) {
    if (context.redactor.text(name, "memory") === name) continue;
    throw new DroverError(
      "INVALID_INPUT",
      "A memory item's namespace or key holds what a PII rule covers, and names are stored as they are. Use an id of your own instead.",
    );
  }
  const ttlMs = op.ttl === undefined ? context.ttlMs : ttlMilliseconds(op.ttl);
  return { kind: "put", namespace, key, ttlMs, value: encodeValue(context, op.value) };
}

function checkSearch(context: MemoryContext, op: SearchOperation & MemoryRefresh): Search {
  if (op.query) {
    throw new DroverError(
      "INVALID_INPUT",
      "The memory has no semantic search yet: it comes later. Leave `query` out and search by namespace prefix and `filter`.",
    );
  }
  if (op.filter !== undefined) assertFilter(op.filter);
  const prefix = op.namespacePrefix.length === 0 ? "" : namespaceOf(op.namespacePrefix);
  const { limit = 10, offset = 0, filter, refreshTtl = context.refreshOnRead } = op;
  return { kind: "search", prefix, filter, refresh: refreshTtl, ...page(limit, offset) };
}

function checkList(op: ListNamespacesOperation): List {
  const { matchConditions: conditions = [], maxDepth, limit = Number.MAX_SAFE_INTEGER, offset = 0 } = op;
  if (maxDepth !== undefined && !(Number.isInteger(maxDepth) && maxDepth > 0)) {
    throw new DroverError("INVALID_INPUT", "maxDepth must be a whole number from 1 on.");
  }
  for (const { matchType } of conditions) {
    if (matchType === "prefix" || matchType === "suffix") continue;
    throw new DroverError("INVALID_INPUT", "A condition's matchType must be 'prefix' or 'suffix'.");
  }
  return { kind: "list", conditions, maxDepth, ...page(limit, offset) };
}

function namespaceOf(namespace: string[]): string {
  validateNamespace(namespace, { allowReservedRoot: true });
  return encodeNamespace(namespace);
}

function keyOf(key: unknown): string {
  if (typeof key === "string" && key.isWellFormed()) return key;
  throw new DroverError("INVALID_INPUT", "A memory item's key must be a string of well-formed Unicode.");
}

/** Both are whole numbers, bounded so that their sum is exact. */
function page(limit: number, offset: number): { limit: number; offset: number } {
  for (const [name, value] of Object.entries({ limit, offset })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new DroverError("INVALID_INPUT", `${name} must be a whole number from 0 on.`);
  }
  return { limit, offset };
}

const LONGEST_TTL_MINUTES = 100 * 366 * 24 * 60;

/** Minutes to milliseconds; null, for ever, to 0. */
export function ttlMilliseconds(minutes: number | null): number {
  if (minutes === null) return 0;
  if (minutes > 0 && minutes <= LONGEST_TTL_MINUTES) return Math.ceil(minutes * 60_000);
  throw new DroverError(
    "INVALID_INPUT",
    "A memory item's ttl must be minutes above 0, at most a hundred years.",
  );
}
