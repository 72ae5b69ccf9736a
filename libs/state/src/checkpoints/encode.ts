import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { Body, BodyList, type Template, TemplateWriter } from "./body.js";
import { fieldsOf } from "./messages.js";

/** From how many characters on a text without references is stored once and referred to. */
const SHARED_FROM = 256;
/** Arrays from this length on are stored in chunks, so that a longer version shares the chunks of a shorter one. */
const CHUNKED_FROM = 64;
const CHUNK = 32;

/** What an encoder asks about the values that it meets. */
export interface EncodeHooks {
  /** The body of a message, or undefined if the value is not one. */
  message(value: object): Body | undefined;
  /** The bodies of a list of messages, or undefined if it is something else. */
  messages(list: readonly unknown[]): readonly Body[] | undefined;
  text(text: string): string;
}

/** A value of a channel, write or Send as a Template. Takes the value as it is now: it may change afterwards. */
export function encodeValue(value: unknown, hooks: EncodeHooks): Template {
  const encoder = new Encoder(hooks, true);
  encoder.shared(value);
  return encoder.done();
}

const NO_HOOKS: EncodeHooks = {
  message: () => undefined,
  messages: () => undefined,
  text: (text) => text,
};

/** A message's class and fields as one text. Nothing in it is shared, apart from what holds a message itself. */
export function encodeMessage(name: string, message: object): string {
  const encoder = new Encoder(NO_HOOKS, false);
  encoder.message(name, message);
  return encoder.done().join("");
}

class Encoder {
  readonly #out = new TemplateWriter();
  readonly #ancestors: object[] = [];

  constructor(
    readonly hooks: EncodeHooks,
    readonly shares: boolean,
  ) {}

  done(): Template {
    return this.#out.done();
  }

  message(name: string, message: object): void {
    this.#out.text(`{"$":"m","t":"${name}","k":`);
    this.#object(fieldsOf(message));
    this.#out.text("}");
  }

  /** Writes a value; a large one that refers to nothing becomes a body. */
  shared(value: unknown): void {
    if (!this.shares || typeof value === "number" || typeof value === "boolean") {
      this.value(value);
      return;
    }
    const mark = this.#out.mark();
    this.value(value);
    const text = this.#out.cut(mark, SHARED_FROM);
    if (text !== undefined) this.#reference(new Body([text]));
  }

  value(value: unknown): void {
    switch (typeof value) {
      case "string":
        this.#out.text(JSON.stringify(this.hooks.text(value)));
        return;
      case "number":
        if (Object.is(value, -0)) this.#mark("n", '"-0"');
        else if (Number.isFinite(value)) this.#out.text(String(value));
        else this.#mark("n", `"${value}"`);
        return;
      case "boolean":
        this.#out.text(value ? "true" : "false");
        return;
      case "bigint":
        this.#mark("N", `"${value}"`);
        return;
      case "object":
        if (value === null) this.#out.text("null");
        else this.#nested(value);
        return;
      case "undefined":
        this.#out.text('{"$":"u"}');
        return;
      default:
        this.#out.text("null");
    }
  }

  #nested(value: object): void {
    if (this.#ancestors.includes(value)) {
      this.#out.text('"[Circular]"');
      return;
    }
    this.#ancestors.push(value);
    this.#composite(value);
    this.#ancestors.pop();
  }

  #composite(value: object): void {
    const body = Array.isArray(value) ? undefined : this.hooks.message(value);
    const prototype = Object.getPrototypeOf(value);
    if (Array.isArray(value)) this.#array(value);
    else if (body !== undefined) this.#reference(body);
    else if (prototype === Object.prototype || prototype === null) this.#plain(value);
    else if (value instanceof Map) this.#marked("M", [...value]);
    else if (value instanceof Set) this.#marked("S", [...value]);
    else if (value instanceof Date) this.#mark("D", JSON.stringify(value.getTime()));
    else if (value instanceof DeltaSnapshot) this.#marked("d", value.value);
    else if (value instanceof RegExp) this.#pattern(value);
    else if (value instanceof Error) this.#error(value);
    else if (ArrayBuffer.isView(value)) this.#bytes(value);
    else if (isSend(value)) this.#send(value);
    else if ("toJSON" in value && typeof value.toJSON === "function") this.#json(value, value.toJSON());
    else this.#plain(value);
  }

  #json(value: object, json: unknown): void {
    if ("lc_serializable" in value) this.#mark("lc", JSON.stringify(json) ?? "null");
    else if (json === value) this.#plain(value);
    else this.value(json);
  }

  /** The node is the graph's own word: the redactor does not see it. */
  #send({ node, args, timeout }: Send): void {
    this.#out.text(`{"node":${JSON.stringify(node)},"args":`);
    this.shared(args);
    if (timeout !== undefined) {
      this.#out.text(',"timeout":');
      this.value(timeout);
    }
    this.#out.text("}");
  }

  #pattern({ source, flags }: RegExp): void {
    this.#out.text(`{"$":"r","v":${JSON.stringify(source)},"f":"${flags}"}`);
  }

  #error(error: Error): void {
    const message = JSON.stringify(this.hooks.text(error.message));
    this.#out.text(`{"$":"e","n":${JSON.stringify(error.name)},"v":${message}}`);
  }

  #bytes(view: ArrayBufferView): void {
    const type = view instanceof Uint8Array ? "Uint8Array" : view.constructor.name;
    const base64 = Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64");
    this.#out.text(`{"$":"y","t":"${type}","v":"${base64}"}`);
  }

  #plain(value: object): void {
    const isMarkLike = Object.hasOwn(value, "$");
    if (isMarkLike) this.#out.text('{"$":"o","v":');
    this.#object(value as Record<string, unknown>);
    if (isMarkLike) this.#out.text("}");
  }

  #object(value: Record<string, unknown>): void {
    let before = "{";
    for (const key of Object.keys(value)) {
      const one = value[key];
      if (typeof one === "function" || typeof one === "symbol") continue;
      this.#out.text(`${before}${JSON.stringify(key)}:`);
      this.shared(one);
      before = ",";
    }
    this.#out.text(before === "{" ? "{}" : "}");
  }

  #array(value: readonly unknown[]): void {
    const bodies = this.shares ? this.hooks.messages(value) : undefined;
    if (bodies !== undefined) this.#out.slot(new BodyList(bodies));
    else if (this.shares && value.length >= CHUNKED_FROM) this.#chunks(value);
    else this.#elements(value);
  }

  #chunks(value: readonly unknown[]): void {
    const whole = Math.floor(value.length / CHUNK) * CHUNK;
    const bodies: Body[] = [];
    for (let at = 0; at < whole; at += CHUNK) {
      const chunk = new Encoder(this.hooks, true);
      chunk.#ancestors.push(...this.#ancestors);
      chunk.#elements(value.slice(at, at + CHUNK));
      bodies.push(new Body(chunk.done()));
    }
    this.#out.text('{"$":"c","v":');
    this.#out.slot(new BodyList(bodies));
    this.#out.text(',"t":');
    this.#elements(value.slice(whole));
    this.#out.text("}");
  }

  #elements(value: readonly unknown[]): void {
    let before = "[";
    for (const one of value) {
      this.#out.text(before);
      this.shared(one);
      before = ",";
    }
    this.#out.text(before === "[" ? "[]" : "]");
  }

  #marked(mark: string, value: unknown): void {
    this.#out.text(`{"$":"${mark}","v":`);
    this.value(value);
    this.#out.text("}");
  }

  #mark(mark: string, json: string): void {
    this.#out.text(`{"$":"${mark}","v":${json}}`);
  }

  #reference(body: Body): void {
    this.#out.text('{"$":"b","v":');
    this.#out.slot(body);
    this.#out.text("}");
  }
}

interface Send {
  node: string;
  args: unknown;
  timeout?: unknown;
}

function isSend(value: object): value is Send {
  return "lg_name" in value && value.lg_name === "Send";
}
