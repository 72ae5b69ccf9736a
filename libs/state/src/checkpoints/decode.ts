import { load } from "@langchain/core/load";
import type { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { isMark, type Mark } from "./marks.js";
import { createMessage, type Fields } from "./messages.js";
import { pairs } from "./refs.js";
import type { ThreadView } from "./thread-view.js";

/** Told of every message that is made, with the body that it was made of. */
export type OnMessage = (message: BaseMessage, number: number, whole: boolean) => void;

/**
 * Makes values of stored texts. Each call makes new objects, so that nobody can change what somebody else got;
 * with `share`, the values of bodies are the same objects in all values that one Decoder makes.
 */
export class Decoder {
  readonly #shared: Map<number, unknown> | undefined;
  /** Other LangChain objects load asynchronously: a text that has one is decoded again when it is there. */
  readonly #loaded = new Map<string, unknown>();
  #wanted = new Set<string>();

  constructor(
    readonly view: ThreadView,
    readonly onMessage: OnMessage,
    share = false,
  ) {
    this.#shared = share ? new Map() : undefined;
  }

  async decode(text: string): Promise<unknown> {
    for (;;) {
      const value = this.#value(JSON.parse(text));
      if (this.#wanted.size === 0) return value;
      for (const serialised of this.#wanted) this.#loaded.set(serialised, await load(serialised));
      this.#wanted = new Set();
      this.#shared?.clear();
    }
  }

  #value(json: unknown): unknown {
    if (typeof json !== "object" || json === null) return json;
    if (Array.isArray(json)) {
      for (let i = 0; i < json.length; i += 1) {
        const one: unknown = json[i];
        if (typeof one === "object" && one !== null) json[i] = this.#value(one);
      }
      return json;
    }
    return isMark(json) ? this.#marked(json) : this.#object(json as Record<string, unknown>);
  }

  #object(json: Record<string, unknown>): unknown {
    for (const key of Object.keys(json)) {
      const one = json[key];
      if (typeof one === "object" && one !== null) json[key] = this.#value(one);
    }
    return json;
  }

  #marked(mark: Mark): unknown {
    switch (mark.$) {
      case "b":
        return this.#body(mark.v as number);
      case "l": {
        const values: unknown[] = [];
        for (const [first, count] of pairs(mark.v as number[])) {
          for (let number = first; number < first + count; number += 1) values.push(this.#body(number));
        }
        return values;
      }
      case "L": {
        const values: unknown[] = [];
        for (const [at, count] of pairs(mark.v as number[])) {
          for (const number of this.view.refs.slice(at, count)) values.push(this.#body(number));
        }
        return values;
      }
      case "c":
        return [...(this.#value(mark.v) as unknown[][]).flat(), ...(this.#value(mark.t) as unknown[])];
      case "m":
        return createMessage(mark.t as string, this.#object(mark.k as Fields) as Fields);
      case "u":
        return undefined;
      case "n":
        return Number(mark.v);
      case "N":
        return BigInt(mark.v as string);
      case "D":
        return new Date((mark.v as number | null) ?? Number.NaN);
      case "M":
        return new Map(this.#value(mark.v) as [unknown, unknown][]);
      case "S":
        return new Set(this.#value(mark.v) as unknown[]);
      case "e":
        return errorOf(mark.n as string, mark.v as string);
      case "r":
        return new RegExp(mark.v as string, mark.f as string);
      case "y":
        return bytesOf(mark.t as string, mark.v as string);
      case "d":
        return new DeltaSnapshot(this.#value(mark.v));
      case "lc":
        return this.#loadedObject(JSON.stringify(mark.v));
      case "o":
        return this.#object(mark.v as Record<string, unknown>);
      default:
        throw new TypeError(`A stored value has the unknown mark '${mark.$}'.`);
    }
  }

  #body(number: number): unknown {
    if (this.#shared?.has(number)) return this.#shared.get(number);
    const value = this.#bodyAnew(number);
    this.#shared?.set(number, value);
    return value;
  }

  #bodyAnew(number: number): unknown {
    const text = this.view.text(number);
    const json = JSON.parse(text) as unknown;
    if (typeof json !== "object" || json === null || !isMark(json)) return this.#value(json);
    if (json.$ !== "m" && json.$ !== "i") return this.#marked(json);
    const whole = json.$ === "m";
    const message = whole ? this.#message(json, text) : this.#withId(json.v as [number, string]);
    this.onMessage(message, number, whole);
    return message;
  }

  #withId([number, id]: [number, string]): BaseMessage {
    const text = this.view.text(number);
    const json = JSON.parse(text) as Mark & { k: Fields };
    json.k.id = id;
    return this.#message(json, text);
  }

  /** Few messages hold marks; the others need no second look. */
  #message({ t, k }: Mark, text: string): BaseMessage {
    const holdsMarks = text.indexOf('"$":', '{"$":'.length) !== -1;
    return createMessage(t as string, (holdsMarks ? this.#object(k as Fields) : k) as Fields);
  }

  #loadedObject(serialised: string): unknown {
    if (!this.#loaded.has(serialised)) this.#wanted.add(serialised);
    return this.#loaded.get(serialised);
  }
}

function errorOf(name: string, message: string): Error {
  const error = new Error(message);
  if (name !== "Error") error.name = name;
  return error;
}

const ARRAYS: readonly (new (buffer: ArrayBuffer) => ArrayBufferView)[] = [
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
];

function bytesOf(type: string, base64: string): unknown {
  const bytes = new Uint8Array(Buffer.from(base64, "base64"));
  const Type = ARRAYS.find(({ name }) => name === type);
  return Type === undefined ? bytes : new Type(bytes.buffer);
}
