import type { Fields } from "./messages.js";

/**
 * A copy of what of a message is stored, to find out later whether the message was changed in place: its id, then
 * its content and other fields, flattened. The comparison runs for each message of a list at each write, mostly on
 * memory that no cache holds; one flat array costs half of what a copied object does.
 */
export type Snapshot = unknown[];

const ARRAY = Symbol("array");
const OBJECT = Symbol("object");
const END = Symbol("end");
/** Stands for a value that is not compared: it always counts as changed. */
const OPAQUE = Symbol("opaque");

export function snapshotOf(message: object): Snapshot {
  const given = (message as { lc_kwargs: Fields }).lc_kwargs;
  const snapshot: Snapshot = ["id" in given ? (message as Fields).id : undefined];
  flatten((message as Fields).content, snapshot);
  for (const key in given) {
    if (key === "content" || key === "contentBlocks" || key === "id") continue;
    const value = key in message ? (message as Fields)[key] : given[key];
    if (value === undefined) continue;
    snapshot.push(key);
    flatten(value, snapshot);
  }
  return snapshot;
}

/** "same", "id" if the message only got the id that it lacked, or "changed" (also where keys changed their order). */
export function compareMessage(message: object, snapshot: Snapshot): "same" | "id" | "changed" {
  const given = (message as { lc_kwargs: Fields }).lc_kwargs;
  at = 1;
  if (!matches((message as Fields).content, snapshot)) return "changed";
  let id: unknown;
  for (const key in given) {
    if (key === "content" || key === "contentBlocks") continue;
    let value = (message as Fields)[key];
    if (value === undefined && !(key in message)) value = given[key];
    if (value === undefined) continue;
    if (key === "id") id = value;
    else if (snapshot[at++] !== key || !matches(value, snapshot)) return "changed";
  }
  if (at !== snapshot.length) return "changed";
  if (id === snapshot[0]) return "same";
  return snapshot[0] === undefined && typeof id === "string" ? "id" : "changed";
}

function flatten(value: unknown, into: Snapshot): void {
  if (typeof value !== "object" || value === null) into.push(value);
  else if (Array.isArray(value)) {
    into.push(ARRAY, value.length);
    for (const one of value) flatten(one, into);
  } else if (isPlain(value)) {
    into.push(OBJECT);
    for (const key in value) {
      into.push(key);
      flatten(value[key], into);
    }
    into.push(END);
  } else into.push(OPAQUE);
}

/** How far the comparison that is under way has come in its snapshot. */
let at = 0;

function matches(value: unknown, snapshot: Snapshot): boolean {
  if (typeof value !== "object" || value === null) return snapshot[at++] === value;
  if (Array.isArray(value)) {
    if (snapshot[at++] !== ARRAY || snapshot[at++] !== value.length) return false;
    for (let i = 0; i < value.length; i += 1) if (!matches(value[i], snapshot)) return false;
    return true;
  }
  if (snapshot[at++] !== OBJECT || !isPlain(value)) return false;
  for (const key in value) if (snapshot[at++] !== key || !matches(value[key], snapshot)) return false;
  return snapshot[at++] === END;
}

function isPlain(value: object): value is Fields {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
