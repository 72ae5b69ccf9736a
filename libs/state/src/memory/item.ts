import { DroverError, NO_REDACTION, type Redactor } from "@drover/contracts";
import type { Item } from "@langchain/langgraph-checkpoint";
import { pack, unpack } from "../encryption/codec.js";
import type { MemoryContext } from "./context.js";
import { decodeNamespace } from "./layout.js";

/** A stored item: 13 digits each of the milliseconds when it was made and changed, its life, `:`, the value. */
const MADE = 13;
const CHANGED = 26;

/**
 * A value as it is stored: JSON, redacted, deflated where that pays, encrypted. What JSON makes of the value is
 * redacted, so that no `toJSON` can bring a text past the rules.
 */
export function encodeValue(context: MemoryContext, value: unknown): string | Buffer {
  const json = redactJson(context.redactor, toJson(value));
  const bytes = Buffer.byteLength(json);
  if (bytes > context.maxValueBytes) {
    throw new DroverError(
      "INPUT_TOO_LARGE",
      `A memory item has ${bytes} bytes of JSON; the limit is ${context.maxValueBytes}. Split it, or store a reference.`,
    );
  }
  return pack(json, context.codec);
}

function redactJson(redactor: Redactor, json: string): string {
  return redactor === NO_REDACTION ? json : toJson(redactor.value(JSON.parse(json), "memory"));
}

/** The JSON of an object. A Date, say, is none: its JSON is a string. */
function toJson(value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    throw new DroverError(
      "INVALID_INPUT",
      "A memory item's value cannot be written as JSON: it holds a cycle or a BigInt. Store plain data.",
      { cause },
    );
  }
  if (json?.startsWith("{")) return json;
  throw new DroverError(
    "INVALID_INPUT",
    "A memory item's value must be an object; put other values in a field.",
  );
}

/** Milliseconds that the item lives after a put or a read; 0 is for ever. */
export function ttlOf(record: Buffer): number {
  return Number(record.toString("latin1", CHANGED, record.indexOf(":", CHANGED)));
}

export function decodeItem(context: MemoryContext, namespace: string, key: string, record: Buffer): Item {
  return {
    namespace: decodeNamespace(namespace),
    key,
    value: JSON.parse(unpack(record.subarray(record.indexOf(":", CHANGED) + 1), context.codec)),
    createdAt: new Date(Number(record.toString("latin1", 0, MADE))),
    updatedAt: new Date(Number(record.toString("latin1", MADE, CHANGED))),
  };
}
