import { DroverError, type RedactionPlace } from "@drover/contracts";
import {
  isSealed,
  type MessagePart,
  partOfAdditional,
  partOfBlock,
  partOfCall,
  partOfMessage,
  placeOfMessage,
} from "./message.js";
import { type Entry, emptyCopy, entriesOf, fillCopy, isOpaque } from "./shape.js";

type RedactText = (text: string, place: RedactionPlace, label: string) => string;

/** How an object is being read. `part` says what the value of a key holds. */
interface Reading {
  place: RedactionPlace;
  label: string;
  part?: ((key: string) => MessagePart) | undefined;
  name: string;
}

/** What became of an object: `copy` as soon as somebody needs one, `done` when it was walked through. */
interface Copied {
  copy?: object;
  done?: object;
}

/** Deeper than any sensible value, and well within the stack. */
const DEEPEST = 500;
/** Read by people, after the fact: there a message's own type loosens nothing. */
const PLACES_THAT_STAND: ReadonlySet<RedactionPlace> = new Set(["log", "error"]);

/**
 * A copy of the value with every text in it redacted, keys included; the argument itself where nothing matched.
 * Classes, cycles, Map, Set and Error keep their kind. Throws INVALID_INPUT for values nested deeper than 500.
 */
export function redactedValue<T>(value: T, place: RedactionPlace, redactText: RedactText): T {
  const walk = new Walk(redactText, PLACES_THAT_STAND.has(place) ? place : undefined);
  const copy = walk.value(value, { place, label: "", name: "value" }, 0);
  return walk.changes > 0 ? (copy as T) : value;
}

class Walk {
  /** How many texts were changed. A cycle alone makes copies too, which then are thrown away. */
  changes = 0;
  readonly #redactText: RedactText;
  readonly #fixedPlace: RedactionPlace | undefined;
  /** A message holds its content twice (lc_kwargs): it is redacted, and counted, once. */
  readonly #texts = new Map<RedactionPlace, Map<string, string>>();
  /** By the way of reading, since one object can stand at two places. */
  readonly #seen = new Map<string, Map<string, Map<string, Map<object, Copied>>>>();

  constructor(redactText: RedactText, fixedPlace: RedactionPlace | undefined) {
    this.#redactText = redactText;
    this.#fixedPlace = fixedPlace;
  }

  value(value: unknown, reading: Reading, depth: number): unknown {
    if (typeof value === "string") return this.#text(value, reading);
    if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))) {
      const digits = String(value);
      if (digits.length < 7) return value;
      const redacted = this.#text(digits, reading);
      return redacted === digits ? value : redacted;
    }
    if (typeof value !== "object" || value === null || isOpaque(value)) return value;
    if (value instanceof URL || value instanceof URLSearchParams) {
      const redacted = this.#text(String(value), reading);
      return redacted === String(value) ? value : redacted;
    }
    return this.#object(value, reading, depth);
  }

  #text(text: string, reading: Reading): string {
    const place = this.#fixedPlace ?? reading.place;
    const known = reading.label === "" ? this.#texts.get(place)?.get(text) : undefined;
    const redacted = known ?? this.#redactText(text, place, reading.label);
    if (redacted === text) return text;
    this.changes++;
    if (reading.label === "" && known === undefined) this.#remember(place, text, redacted);
    return redacted;
  }

  #remember(place: RedactionPlace, text: string, redacted: string): void {
    const texts = this.#texts.get(place) ?? new Map<string, string>();
    this.#texts.set(place, texts.set(text, redacted));
  }

  #object(value: object, reading: Reading, depth: number): unknown {
    if (depth > DEEPEST) {
      throw new DroverError(
        "INVALID_INPUT",
        `A value is nested deeper than ${DEEPEST}: PII rules cannot look through it.`,
      );
    }
    const seen = this.#seenAs(reading, passesLabelOn(value) ? reading.label : "");
    const known = seen.get(value);
    if (known) {
      if (known.done) return known.done;
      known.copy ??= emptyCopy(value);
      return known.copy;
    }
    const state: Copied = {};
    seen.set(value, state);
    const entries = entriesOf(value);
    const read = reader(value, reading);
    let sealed: Set<Entry> | undefined;
    let isChanged = false;
    for (const entry of entries) {
      const original = entry.value;
      if (!this.#entry(entry, read, depth)) continue;
      isChanged = true;
      if (isSealed(original)) sealed = (sealed ?? new Set()).add(entry);
    }
    if (isChanged || state.copy) {
      state.copy ??= emptyCopy(value);
      fillCopy(value, state.copy, sealed ? entries.filter((entry) => !sealed?.has(entry)) : entries);
    }
    state.done = state.copy ?? value;
    return state.done;
  }

  #seenAs({ name, place }: Reading, label: string): Map<object, Copied> {
    const places = inside(this.#seen, name, () => new Map<string, Map<string, Map<object, Copied>>>());
    const labels = inside(places, place, () => new Map<string, Map<object, Copied>>());
    return inside(labels, label, () => new Map<object, Copied>());
  }

  /** Redacts an entry in place (it is a copy already); true where it changed. */
  #entry(entry: Entry, read: (key: string) => Reading | undefined, depth: number): boolean {
    const reading = read(typeof entry.key === "string" ? entry.key : "");
    if (reading === undefined) return false;
    const value = this.value(entry.value, reading, depth + 1);
    let key = entry.key;
    if (entry.isMapKey)
      key = this.value(key, { ...reading, label: "", part: undefined, name: "value" }, depth + 1);
    else if (entry.isOwnKey && typeof key === "string") key = this.#text(key, { ...reading, label: "" });
    const isChanged = value !== entry.value || key !== entry.key;
    entry.value = value;
    entry.key = key;
    return isChanged;
  }
}

function inside<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

/** The items of a list stand under the key of the list: `{"phones": ["0123456789"]}`. */
function passesLabelOn(value: object): boolean {
  return Array.isArray(value) || value instanceof Set;
}

/** How the values under an object's keys are to be read; undefined for one that is kept as it is. */
function reader(value: object, reading: Reading): (key: string) => Reading | undefined {
  if (passesLabelOn(value)) return () => reading;
  const ownPlace = reading.part ? undefined : placeOfMessage(value, reading.place);
  const place = value instanceof Error ? "error" : (ownPlace ?? reading.place);
  const part =
    ownPlace === undefined ? partFor(reading, value) : (key: string) => partOfMessage(key, ownPlace);
  return (key) => {
    const label = key.slice(-LONGEST_LABEL);
    return part === undefined ? { place, label, name: "value" } : readingOf(part(key), place, key, label);
  };
}

const LONGEST_LABEL = 64;

function partFor(reading: Reading, value: object): Reading["part"] {
  if (reading.name !== "blocks") return reading.part;
  return (key) => partOfBlock(key, (value as { type?: unknown }).type, reading.place);
}

function readingOf(
  part: MessagePart,
  place: RedactionPlace,
  key: string,
  label: string,
): Reading | undefined {
  switch (part.kind) {
    case "keep":
      return undefined;
    case "value":
      return { place: part.place, label: key === "text" ? "" : label, name: "value" };
    case "calls":
      return { place: "tool_args", label: "", name: "calls", part: partOfCall };
    case "content":
      return { place, label: "", name: "blocks", part: (inner) => partOfBlock(inner, undefined, place) };
    case "additional":
      return { place, label: "", name: "additional", part: (inner) => partOfAdditional(inner, place) };
    case "fields":
      return { place, label: "", name: "fields", part: (inner) => partOfMessage(inner, place) };
  }
}
