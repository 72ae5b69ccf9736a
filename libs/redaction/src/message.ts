import type { RedactionPlace } from "@drover/contracts";

/** What a property of a message holds: a text at some place, calls, content blocks, the message's fields again. */
export type MessagePart =
  | { kind: "keep" }
  | { kind: "value"; place: RedactionPlace }
  | { kind: "calls" }
  | { kind: "content" }
  | { kind: "additional" }
  | { kind: "fields" };

const PLACE_OF_ROLE = new Map<string, RedactionPlace>([
  ["human", "input"],
  ["user", "input"],
  ["ai", "output"],
  ["assistant", "output"],
  ["tool", "tool_result"],
  ["function", "tool_result"],
]);
const OTHER_ROLES = new Set(["system", "developer", "generic", "chat", "remove"]);

/** Ids pair calls with answers, usage is counted, and a status is read by code: a message keeps them. */
const KEPT = new Set([
  "id",
  "type",
  "role",
  "status",
  "tool_call_id",
  "usage_metadata",
  "lc",
  "lc_namespace",
  "lc_serializable",
]);
const CALLS = new Set(["tool_calls", "invalid_tool_calls", "tool_call_chunks", "function_call"]);
const WRAPPED_FIELDS = new Set(["lc_kwargs", "kwargs", "data"]);
const REASONING = new Set(["reasoning_content", "reasoning", "thinking"]);

/**
 * The place of a message by its type, or `given` for a system message; undefined for what is no message. Knows the
 * classes of LangChain by their methods, their two serialized forms, and `{role, content}`.
 */
export function placeOfMessage(value: object, given: RedactionPlace): RedactionPlace | undefined {
  const role = roleOf(value as Record<string, unknown>);
  if (role === undefined) return undefined;
  return PLACE_OF_ROLE.get(role) ?? (OTHER_ROLES.has(role) ? given : undefined);
}

function roleOf(value: Record<string, unknown>): string | undefined {
  if ("content" in value) {
    const getType = value.getType ?? value._getType;
    if (typeof getType === "function") return String(getType.call(value));
    if (typeof value.role === "string") return value.role;
    return typeof value.type === "string" ? value.type : undefined;
  }
  if (value.lc === 1 && value.type === "constructor" && Array.isArray(value.id) && isObject(value.kwargs)) {
    const name = /^(.+)Message(?:Chunk)?$/.exec(String(value.id.at(-1)));
    return name?.[1]?.toLowerCase();
  }
  const isStored = typeof value.type === "string" && isObject(value.data) && "content" in value.data;
  return isStored ? String(value.type) : undefined;
}

/** What the property `key` of a message at `place` holds. */
export function partOfMessage(key: string, place: RedactionPlace): MessagePart {
  if (KEPT.has(key) || (key === "name" && place === "tool_result")) return { kind: "keep" };
  if (CALLS.has(key)) return { kind: "calls" };
  if (WRAPPED_FIELDS.has(key)) return { kind: "fields" };
  if (key === "content") return { kind: "content" };
  if (key === "additional_kwargs") return { kind: "additional" };
  return { kind: "value", place };
}

/** The same for additional_kwargs, where providers put raw calls and reasoning. */
export function partOfAdditional(key: string, place: RedactionPlace): MessagePart {
  if (CALLS.has(key)) return { kind: "calls" };
  return { kind: "value", place: REASONING.has(key) ? "reasoning" : place };
}

const BLOCK_KEPT = new Set(["id", "type", "index", "tool_call_id", "tool_use_id", "signature"]);

/** The same for a content block: `{type: "text", text}`, `{type: "reasoning", …}`, `{type: "tool_call", args}`. */
export function partOfBlock(key: string, type: unknown, place: RedactionPlace): MessagePart {
  if (BLOCK_KEPT.has(key)) return { kind: "keep" };
  const name = String(type);
  if (/tool_(?:call|use)/.test(name) || name === "functionCall")
    return key === "name" ? { kind: "keep" } : { kind: "value", place: "tool_args" };
  return { kind: "value", place: /reasoning|thinking/.test(name) ? "reasoning" : place };
}

/**
 * Whether a block is a model's thinking that its provider signed or encrypted. One that a rule changes is left out as a
 * whole: with another text its provider would refuse it, and the conversation with it.
 */
export function isSealed(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type, signature, encrypted_content, extras } = block as Record<string, unknown>;
  if (!/reasoning|thinking/.test(String(type))) return false;
  const inExtras = isObject(extras) ? (extras as { signature?: unknown }).signature : undefined;
  return [signature, encrypted_content, inExtras].some((seal) => typeof seal === "string" && seal !== "");
}

/** The same for one call, LangChain's `{id, name, args}` and OpenAI's `{id, function: {name, arguments}}`. */
export function partOfCall(key: string): MessagePart {
  if (BLOCK_KEPT.has(key) || key === "name") return { kind: "keep" };
  if (key === "function") return { kind: "calls" };
  return { kind: "value", place: "tool_args" };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
