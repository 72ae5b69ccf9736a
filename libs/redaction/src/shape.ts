import { types } from "node:util";

/** One thing that a container holds. `key` is a property's name, a map's key (any value) or an index. */
export interface Entry {
  key: unknown;
  value: unknown;
  /** A name that somebody chose, so that it may hold what a rule covers. */
  isOwnKey: boolean;
  isMapKey: boolean;
  enumerable: boolean;
}

/** Values without texts of their own, or whose insides cannot be copied from outside. */
export function isOpaque(value: object): boolean {
  return (
    ArrayBuffer.isView(value) ||
    types.isAnyArrayBuffer(value) ||
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isPromise(value) ||
    types.isWeakMap(value) ||
    types.isWeakSet(value) ||
    value instanceof AbortSignal
  );
}

const ERROR_TEXTS = ["message", "stack", "cause"];

/** What a container holds, in order. Error's message, stack and cause count, though they are not enumerable. */
export function entriesOf(value: object): Entry[] {
  if (Array.isArray(value)) return value.map((item, key) => entry(key, item));
  if (types.isMap(value)) return [...value].map(([key, item]) => entry(key, item, "map"));
  if (types.isSet(value)) return [...value].map((item, key) => entry(key, item));
  const names = Object.keys(value);
  const hidden =
    value instanceof Error
      ? ERROR_TEXTS.filter((name) => Object.hasOwn(value, name) && !names.includes(name))
      : [];
  return [
    ...names.map((key) => entry(key, Reflect.get(value, key), "own")),
    ...hidden.map((key) => entry(key, Reflect.get(value, key), "hidden")),
  ];
}

/** Made by the thousand: an object literal, and nothing spread into it. */
function entry(key: unknown, value: unknown, kind: "item" | "map" | "own" | "hidden" = "item"): Entry {
  return { key, value, isOwnKey: kind === "own", isMapKey: kind === "map", enumerable: kind !== "hidden" };
}

/** An empty container of the same kind and class. */
export function emptyCopy(value: object): object {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return Object.setPrototypeOf([], prototype);
  if (types.isMap(value)) return Object.setPrototypeOf(new Map(), prototype);
  if (types.isSet(value)) return Object.setPrototypeOf(new Set(), prototype);
  return Object.create(prototype);
}

/** Puts the entries into the copy, and whatever else the original has: symbols and hidden properties. */
export function fillCopy(original: object, copy: object, entries: readonly Entry[]): void {
  if (Array.isArray(copy)) {
    copy.push(...entries.map(({ value }) => value));
    return;
  }
  if (types.isMap(copy)) {
    for (const { key, value } of entries) copy.set(key, value);
    return;
  }
  if (types.isSet(copy)) {
    for (const { value } of entries) copy.add(value);
    return;
  }
  for (const { key, value, enumerable } of entries) {
    Object.defineProperty(copy, freeName(copy, String(key)), {
      value,
      enumerable,
      writable: true,
      configurable: true,
    });
  }
  const handled = new Set<PropertyKey>(entriesNames(original));
  for (const name of Reflect.ownKeys(original)) {
    const descriptor = Object.getOwnPropertyDescriptor(original, name);
    if (descriptor && !handled.has(name))
      Object.defineProperty(copy, name, { ...descriptor, configurable: true });
  }
}

function entriesNames(original: object): string[] {
  return original instanceof Error ? [...Object.keys(original), ...ERROR_TEXTS] : Object.keys(original);
}

/** Two names that become the same one must not swallow a value. */
function freeName(copy: object, name: string): string {
  let free = name;
  for (let n = 2; Object.hasOwn(copy, free); n++) free = `${name} (${n})`;
  return free;
}
