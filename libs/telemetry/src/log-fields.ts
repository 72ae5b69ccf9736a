import { isNativeError } from "node:util/types";
import { HIDDEN, isSecretName } from "./secrets.js";

/** How the values of a log line are made safe. */
export interface FieldRules {
  /** Applied to every string, keys included; must not throw. */
  text(text: string): string;
  /** Whether errors keep their stack. */
  stacks: boolean;
}

/** Names under which documents, messages, tool calls and what people typed travel: only their size is written. */
const CONTENT = new Set(
  (
    "input inputs output outputs messages content contents args arguments kwargs context prompt text " +
    "body payload data value values result results answer answers decisions comment resume description questions " +
    "metadata artifact"
  ).split(" "),
);

const MOST_DEEP = 5;
const MOST_KEYS = 50;
const MOST_ITEMS = 20;
/** Values in one line: a cyclic or very wide object ends here. */
const MOST_VALUES = 300;
const LEFT_OUT = "[left out]";

/**
 * A copy of the fields that may be written to a log: secrets hidden by name, content replaced by its size, errors as
 * {code, message}, every string through `rules.text`. Instances of classes are named, never walked: what they hold is
 * not known. Bounded in depth, width and number of values. Never throws for odd values; a getter that throws does.
 */
export function cleanFields(fields: Record<string, unknown>, rules: FieldRules): Record<string, unknown> {
  let left = MOST_VALUES;

  function cleanObject(object: object, depth: number): Record<string, unknown> {
    const entries = Object.entries(object);
    const clean: [string, unknown][] = [];
    for (const [key, value] of entries.slice(0, MOST_KEYS)) {
      const safe = cleanField(key, value, depth);
      if (safe !== undefined) clean.push([rules.text(key), safe]);
    }
    if (entries.length > MOST_KEYS) clean.push(["more", `[and ${entries.length - MOST_KEYS} more keys]`]);
    return Object.fromEntries(clean);
  }

  function cleanField(key: string, value: unknown, depth: number): unknown {
    if (value === null || typeof value === "boolean") return value;
    if (isSecretName(key)) return HIDDEN;
    if (isContentName(key) && typeof value !== "number") return sizeOf(value);
    return cleanValue(value, depth);
  }

  function cleanValue(value: unknown, depth: number): unknown {
    left -= 1;
    if (left < 0) return LEFT_OUT;
    if (typeof value === "string") return rules.text(value);
    if (typeof value === "bigint") return rules.text(String(value));
    if (value === null || typeof value === "number" || typeof value === "boolean") return value;
    if (typeof value !== "object") return undefined;
    if (isError(value)) return cleanError(value, rules);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
    if (value instanceof URL) return rules.text(value.href);
    if (Array.isArray(value)) {
      if (depth >= MOST_DEEP) return sizeOf(value);
      const items = value.slice(0, MOST_ITEMS).map((item) => cleanValue(item, depth + 1));
      if (value.length > MOST_ITEMS) items.push(`[and ${value.length - MOST_ITEMS} more items]`);
      return items;
    }
    if (isPlain(value) && depth < MOST_DEEP) return cleanObject(value, depth + 1);
    return sizeOf(value);
  }

  return cleanObject(fields, 0);
}

/** An error as a log shows it: its code (Drover's, or the system's, or else its class) and message; never its cause. */
function cleanError(error: Error, rules: FieldRules): Record<string, unknown> {
  const own = "code" in error && typeof error.code === "string" ? error.code : "";
  const code = /^[A-Z][A-Z0-9_]{1,63}$/.test(own) ? own : error.name;
  return {
    code: rules.text(String(code)),
    message: rules.text(String(error.message || error.name)),
    ...(rules.stacks && error.stack ? { stack: rules.text(String(error.stack)) } : {}),
  };
}

/** Says how large a value is, and nothing of what it holds. Undefined for functions and the like. */
function sizeOf(value: unknown): string | undefined {
  if (typeof value === "string") return `[text, ${value.length} characters]`;
  if (Array.isArray(value)) return `[list, ${value.length} items]`;
  if (ArrayBuffer.isView(value)) return `[binary, ${value.byteLength} bytes]`;
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? "[number]" : undefined;
  return isPlain(value) ? `[object, ${Object.keys(value).length} keys]` : "[instance of a class]";
}

/** Content is known by the last word of a name: `input`, `toolInput`, `tool_input`. */
function isContentName(name: string): boolean {
  const last = /(?:[A-Z]?[a-z]+|[A-Z]+)$/.exec(name.slice(-32));
  return last !== null && CONTENT.has(last[0].toLowerCase());
}

function isError(value: object): value is Error {
  return value instanceof Error || isNativeError(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
