import { Body, type BodyList, type Template } from "./body.js";
import { Refs, runsOf } from "./refs.js";
import type { CheckpointState } from "./state.js";

/** A text in which all places are filled, and the lowest body that it needs (Infinity: none). */
export interface Rendered {
  text: string;
  lowest: number;
}

/** Lists in no more runs than this are written out; others are ranges of refs. */
const MOST_RUNS = 4;

/**
 * What a saver knows of a thread's checkpoints in Redis. It is true as long as `token` is the one in Redis, which
 * every write checks; a view that turned out to be old is thrown away and read anew.
 */
export class ThreadView {
  readonly refs = new Refs();
  readonly namespaces = new Map<string, NamespaceView>();
  /** Texts of bodies by number; those before `from` have not been read. */
  readonly #texts: string[] = [];
  readonly #lowest: number[] = [];
  readonly #bodies: (Body | undefined)[] = [];
  readonly #byText = new Map<string, number>();
  #lastList: { bodies: readonly Body[]; numbers: readonly number[]; rendered: Rendered } | undefined;
  from: number;
  count: number;
  /** Whether all that the thread holds is known: it was new, and nobody else has written since. */
  #isWhole = false;

  /** The view of a thread that has no checkpoints, and one writer. */
  static ofNew(): ThreadView {
    const view = new ThreadView("", "");
    view.#isWhole = true;
    return view;
  }

  constructor(
    public generation: string,
    public token: string,
    from = 0,
  ) {
    this.from = from;
    this.count = from;
  }

  namespace(name: string): NamespaceView {
    let view = this.namespaces.get(name);
    if (view === undefined) {
      view = new NamespaceView();
      if (this.#isWhole) view.length = 0;
      this.namespaces.set(name, view);
    }
    return view;
  }

  /** Whether it is known, without asking Redis, that the namespace has no checkpoints. */
  isEmpty(name: string): boolean {
    return this.#isWhole && this.namespace(name).length === 0;
  }

  /** The thread was read at this token: what other namespaces hold by now is not known if somebody wrote. */
  moveTo(token: string): void {
    if (this.token === token) return;
    for (const namespace of this.namespaces.values()) namespace.length = undefined;
    this.#isWhole = false;
    this.token = token;
  }

  /** Adds bodies that were read; `stored` is as in Redis, with the lowest body that it needs before it. */
  addStored(at: number, stored: readonly string[]): void {
    stored.forEach((one, i) => {
      const { text, lowest } = splitBody(one, at + i);
      this.#set(at + i, text, lowest);
    });
    if (at < this.from) this.from = at;
    if (at + stored.length > this.count) this.count = at + stored.length;
  }

  text(number: number): string {
    const text = this.#texts[number];
    if (text === undefined) throw new RangeError(`Body ${number} of the thread has not been read.`);
    return text;
  }

  /** The Body object of a stored text, for messages that were read. */
  bodyAt(number: number): Body {
    let body = this.#bodies[number];
    if (body === undefined) {
      body = new Body([this.text(number)]);
      body.view = this;
      body.ordinal = number;
      this.#bodies[number] = body;
    }
    return body;
  }

  /** Fills the places of a template. Bodies that are not stored yet are put into `fresh`, in order. */
  render(template: Template, fresh: string[]): Rendered {
    let text = "";
    let lowest = Number.POSITIVE_INFINITY;
    for (const part of template) {
      if (typeof part === "string") text += part;
      else if (part instanceof Body) {
        const number = this.#place(part, fresh);
        text += number;
        lowest = Math.min(lowest, this.#lowest[number] ?? number);
      } else {
        const list = this.#list(part, fresh);
        text += list.text;
        lowest = Math.min(lowest, list.lowest);
      }
    }
    return { text, lowest };
  }

  #list({ bodies }: BodyList, fresh: string[]): Rendered {
    const last = this.#lastList;
    if (last?.bodies === bodies) return last.rendered;
    let same = 0;
    if (last !== undefined) while (same < bodies.length && bodies[same] === last.bodies[same]) same += 1;
    const numbers = last?.numbers.slice(0, same) ?? [];
    // What the last list needed is a bound for what both have in common.
    let lowest = last !== undefined && same > 0 ? last.rendered.lowest : Number.POSITIVE_INFINITY;
    for (let i = same; i < bodies.length; i += 1) {
      const number = this.#place(bodies[i] as Body, fresh);
      numbers.push(number);
      lowest = Math.min(lowest, this.#lowest[number] ?? number);
    }
    const runs = runsOf(numbers, MOST_RUNS);
    const [mark, pieces] = runs === undefined ? ["L", this.refs.place(numbers)] : ["l", runs];
    const rendered = { text: `{"$":"${mark}","v":[${pieces.join()}]}`, lowest };
    this.#lastList = { bodies, numbers, rendered };
    return rendered;
  }

  #place(body: Body, fresh: string[]): number {
    if (body.view === this) return body.ordinal;
    const { text, lowest } = this.render(body.template, fresh);
    let number = this.#byText.get(text);
    if (number === undefined) {
      number = this.count;
      this.count += 1;
      fresh.push(lowest === Number.POSITIVE_INFINITY ? text : `${lowest};${text}`);
      this.#set(number, text, Math.min(lowest, number));
    }
    body.view = this;
    body.ordinal = number;
    return number;
  }

  #set(number: number, text: string, lowest: number): void {
    this.#texts[number] = text;
    this.#lowest[number] = lowest;
    this.#byText.set(text, number);
  }
}

function splitBody(stored: string, number: number): { text: string; lowest: number } {
  const first = stored.charCodeAt(0);
  if (first < 48 || first > 57) return { text: stored, lowest: number };
  const end = stored.indexOf(";");
  return { text: stored.slice(end + 1), lowest: Number(stored.slice(0, end)) };
}

/** How many states a namespace remembers, to write the next ones as differences. */
const REMEMBERED = 32;

/** What a saver knows of a namespace of a thread. */
export class NamespaceView {
  /** Records in the log; undefined until it was read. */
  length: number | undefined;
  head: CheckpointState | undefined;
  /** Whether writes of some checkpoint may stand before it in the log. */
  hasEarlyWrites = false;
  readonly #states = new Map<number, CheckpointState>();
  readonly #positions = new Map<string, number>();

  remember(state: CheckpointState): void {
    this.#states.delete(state.position);
    this.#states.set(state.position, state);
    this.#positions.set(state.id, state.position);
    if (this.#states.size <= REMEMBERED) return;
    for (const [position, oldest] of this.#states) {
      this.#states.delete(position);
      if (this.#positions.get(oldest.id) === position) this.#positions.delete(oldest.id);
      return;
    }
  }

  state(id: string | undefined): CheckpointState | undefined {
    return id === undefined ? undefined : this.#states.get(this.#positions.get(id) ?? -1);
  }

  /** States that are known, newest first. */
  states(): CheckpointState[] {
    return [...this.#states.values()].reverse();
  }
}
