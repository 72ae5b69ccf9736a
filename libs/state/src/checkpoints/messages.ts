import {
  AIMessage,
  AIMessageChunk,
  BaseMessage,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";

/**
 * LangChain messages as their constructor fields. LangChain's own loading takes 120 µs a message, this 3 µs, and
 * the fields keep their names, which LangChain turns into snake case and back.
 */
const CLASSES = new Map<string, new (fields: never) => BaseMessage>(
  Object.entries({
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
  }),
);

export type Fields = Record<string, unknown>;

/** The name of the message's class, or undefined if it is not a message of @langchain/core. */
export function messageClass(value: object): string | undefined {
  if (!BaseMessage.isInstance(value)) return undefined;
  const name = (value.constructor as { lc_name?: () => string }).lc_name?.();
  return name !== undefined && CLASSES.has(name) ? name : undefined;
}

/**
 * What LangChain would serialise: the fields given to the constructor, at their present value. `contentBlocks` is
 * another way to give `content`; reading it would translate the content anew.
 */
export function fieldsOf(message: object): Fields {
  const given = (message as { lc_kwargs: Fields }).lc_kwargs;
  const fields: Fields = { content: (message as Fields).content };
  for (const key in given) {
    if (key === "contentBlocks") continue;
    const value = key in message ? (message as Fields)[key] : given[key];
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}

export function createMessage(name: string, fields: Fields): BaseMessage {
  const Class = CLASSES.get(name);
  if (Class === undefined) throw new TypeError(`A stored message has the unknown class '${name}'.`);
  return new Class(fields as never);
}

/** A copy of a message's fields, to find out later whether the message was changed in place. */
export interface Snapshot {
  fields: Fields;
  count: number;
}

const CHANGED = Symbol("not comparable");

export function snapshotOf(fields: Fields): Snapshot {
  const copy: Fields = {};
  let count = 0;
  for (const key in fields) {
    copy[key] = clone(fields[key]);
    count += 1;
  }
  return { fields: copy, count };
}

/** "same", "id" if the message only got the id that it lacked, or "changed". Takes about 1 µs. */
export function compareMessage(message: object, before: Snapshot): "same" | "id" | "changed" {
  const given = (message as { lc_kwargs: Fields }).lc_kwargs;
  if (!isSame((message as Fields).content, before.fields.content)) return "changed";
  let count = 1;
  let gotId = false;
  for (const key in given) {
    if (key === "content" || key === "contentBlocks") continue;
    const value = key in message ? (message as Fields)[key] : given[key];
    if (value === undefined) continue;
    const old = before.fields[key];
    if (key === "id" && old === undefined && typeof value === "string") {
      gotId = true;
      continue;
    }
    if (!isSame(value, old)) return "changed";
    count += 1;
  }
  if (count !== before.count) return "changed";
  return gotId ? "id" : "same";
}

function clone(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(clone);
  if (!isPlain(value)) return CHANGED;
  const copy: Fields = {};
  for (const key in value) copy[key] = clone(value[key]);
  return copy;
}

function isSame(value: unknown, old: unknown): boolean {
  if (value === old) return true;
  if (typeof value !== "object" || value === null || typeof old !== "object" || old === null) {
    return Number.isNaN(value) && Number.isNaN(old);
  }
  if (Array.isArray(value)) {
    return Array.isArray(old) && value.length === old.length && value.every((one, i) => isSame(one, old[i]));
  }
  if (Array.isArray(old) || !isPlain(value)) return false;
  let count = 0;
  for (const key in value) {
    if (!Object.hasOwn(old, key) || !isSame(value[key], (old as Fields)[key])) return false;
    count += 1;
  }
  return count === Object.keys(old).length;
}

function isPlain(value: object): value is Fields {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
