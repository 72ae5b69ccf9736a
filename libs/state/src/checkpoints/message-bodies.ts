import type { RedactionPlace, Redactor } from "@drover/contracts";
import { Body } from "./body.js";
import { encodeMessage } from "./encode.js";
import { compareMessage, fieldsOf, messageClass, type Snapshot, snapshotOf } from "./messages.js";

interface Known {
  body: Body;
  snapshot: Snapshot;
  /** Whether the body is the message as a whole, and not a reference with another id. */
  whole: boolean;
}

const PLACES: Record<string, RedactionPlace> = { human: "input", ai: "output", tool: "tool_result" };

/**
 * The bodies of message objects. An object that was stored before is compared with a copy of what was stored, not
 * taken for unchanged: LangGraph's reducers set ids on objects that are stored already, and agents edit in place.
 * A message that only got its id refers to the body without it.
 */
export class MessageBodies {
  readonly #known = new WeakMap<object, Known>();

  constructor(readonly redactor: Redactor) {}

  /** Undefined if the value is not a message. */
  bodyOf(value: object): Body | undefined {
    const known = this.#known.get(value);
    if (known !== undefined) {
      const difference = compareMessage(value, known.snapshot);
      if (difference === "same") return known.body;
      if (difference === "id" && known.whole) return this.#withId(value, known);
    }
    const name = messageClass(value);
    if (name === undefined) return undefined;
    const place = PLACES[(value as { type: string }).type] ?? "output";
    const text = encodeMessage(name, this.redactor.value(value, place));
    const body = new Body([text]);
    this.#remember(value, body, true);
    return body;
  }

  /** A message that was read: its object is new, its body is stored. */
  read(message: object, body: Body, whole: boolean): void {
    this.#remember(message, body, whole);
  }

  #withId(message: object, known: Known): Body {
    const id = JSON.stringify((message as { id: string }).id);
    const body = new Body(['{"$":"i","v":[', known.body, `,${id}]}`]);
    this.#remember(message, body, false);
    return body;
  }

  #remember(message: object, body: Body, whole: boolean): void {
    this.#known.set(message, { body, snapshot: snapshotOf(fieldsOf(message)), whole });
  }
}
