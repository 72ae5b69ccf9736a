import type { RedactionPlace, Redactor } from "@drover/contracts";
import { Body } from "./body.js";
import { encodeMessage } from "./encode.js";
import { compareMessage, type Snapshot, snapshotOf } from "./message-snapshot.js";
import { messageClass } from "./messages.js";

interface Known {
  body: Body;
  snapshot: Snapshot;
  /** Whether the body is the message as a whole, and not a reference with another id. */
  whole: boolean;
  /** The call in which it was compared last. */
  call: number;
}

const PLACES: Record<string, RedactionPlace> = { human: "input", ai: "output", tool: "tool_result" };

/**
 * The bodies of message objects. An object that was stored before is compared with a copy of what was stored, not
 * taken for unchanged: LangGraph's reducers set ids on objects that are stored already, and agents edit in place.
 * A message that only got its id refers to the body without it.
 */
export class MessageBodies {
  readonly #known = new WeakMap<object, Known>();
  /** The list that was met last, by place: most lists are that one and a few more. */
  #list: { messages: readonly unknown[]; known: readonly Known[]; bodies: readonly Body[] } = {
    messages: [],
    known: [],
    bodies: [],
  };
  #call = 0;

  constructor(readonly redactor: Redactor) {}

  /** A new put or putWrites begins. Until it returns nobody can change a message: each is compared once. */
  beginCall(): void {
    this.#call += 1;
  }

  /** Undefined if the value is not a message. */
  bodyOf(value: object): Body | undefined {
    return this.#current(value, this.#known.get(value))?.body;
  }

  /** Undefined if anything in the list is not a message. The same bodies come as the same array. */
  bodiesOf(list: readonly unknown[]): readonly Body[] | undefined {
    if (list.length === 0) return undefined;
    const before = this.#list;
    let same = 0;
    while (same < list.length && same < before.bodies.length) {
      const value = list[same] as object;
      if (value !== before.messages[same]) break;
      if (this.#current(value, before.known[same])?.body !== before.bodies[same]) break;
      same += 1;
    }
    if (same === list.length && same === before.bodies.length) return before.bodies;
    const known = before.known.slice(0, same);
    const bodies = before.bodies.slice(0, same);
    for (let i = same; i < list.length; i += 1) {
      const value = list[i];
      if (typeof value !== "object" || value === null) return undefined;
      const current = this.#current(value, this.#known.get(value));
      if (current === undefined) return undefined;
      known.push(current);
      bodies.push(current.body);
    }
    this.#list = { messages: [...list], known, bodies };
    return bodies;
  }

  /**
   * A message that was read: its object is new, its body is stored. One that was stored before a rule existed is not
   * remembered, so that the next checkpoint has a body of it without what the rule covers.
   */
  read(message: object, body: Body, whole: boolean): void {
    if (this.#isCovered(message)) return;
    this.#known.set(message, { body, snapshot: snapshotOf(message), whole, call: 0 });
  }

  /** What stands for the message as it is now. */
  #current(value: object, known: Known | undefined): Known | undefined {
    if (known === undefined) return this.#add(value);
    if (known.call === this.#call) return known;
    const difference = compareMessage(value, known.snapshot);
    if (difference === "changed" || (difference === "id" && !known.whole)) return this.#add(value);
    if (difference === "id") {
      const id = JSON.stringify((value as { id: string }).id);
      known.body = new Body(['{"$":"i","v":[', known.body, `,${id}]}`]);
      known.whole = false;
      known.snapshot[0] = (value as { id: string }).id;
    }
    known.call = this.#call;
    return known;
  }

  /** A rule that blocks says so when the message is written. */
  #isCovered(message: object): boolean {
    try {
      return this.redactor.value(message, placeOf(message)) !== message;
    } catch {
      return true;
    }
  }

  #add(value: object): Known | undefined {
    const name = messageClass(value);
    if (name === undefined) return undefined;
    const body = new Body([encodeMessage(name, this.redactor.value(value, placeOf(value)))]);
    const snapshot = snapshotOf(value);
    const known = this.#known.get(value) ?? { body, snapshot, whole: true, call: 0 };
    Object.assign(known, { body, snapshot, whole: true, call: this.#call });
    this.#known.set(value, known);
    return known;
  }
}

function placeOf(message: object): RedactionPlace {
  return PLACES[(message as { type: string }).type] ?? "output";
}
