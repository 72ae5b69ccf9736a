import type { RedactionPlace } from "@drover/contracts";
import { createRedactor } from "./redactor.js";
import type { PiiRule } from "./rules.js";

/** Where rules found something in a value, and never what. */
export interface Finding {
  /** `messages[3].content`; a list's item with an id is named by it, a key that is covered itself is `[a key]`. */
  path: string;
  type: string;
  count: number;
}

/** Says what rules would cover, without changing anything. */
export interface Finder {
  in(value: unknown, place: RedactionPlace): Finding[];
  /** A text as it may be shown. */
  shown(text: string): string;
}

/** Whatever a rule's strategy is, what it finds is told. Throws INVALID_POLICY, and PII_DETECTOR_FAILED when used. */
export function createFinder(rules: readonly PiiRule[]): Finder {
  const redactor = createRedactor({ rules: rules.map((rule) => ({ ...rule, strategy: "redact" as const })) });
  const marks = rules.map(({ type }) => ({ type, mark: `[REDACTED_${type.toUpperCase()}]` }));
  const countsIn = (before: string, after: string) =>
    marks
      .map(({ type, mark }) => ({ type, count: after.split(mark).length - before.split(mark).length }))
      .filter(({ count }) => count > 0);
  return {
    shown: (text) => redactor.text(text, "metadata"),
    in(value, place) {
      const found = new Map<string, Finding>();
      for (const { path, before, after } of differences(value, redactor.value(value, place), "", new Set())) {
        for (const { type, count } of countsIn(before, after)) {
          const known = found.get(`${path} ${type}`);
          if (known) known.count += count;
          else found.set(`${path} ${type}`, { path, type, count });
        }
      }
      return [...found.values()];
    },
  };
}

interface Difference {
  path: string;
  before: string;
  after: string;
}

/** Where a value and its redacted copy differ. A message of LangChain's holds its fields twice: they count once. */
function* differences(
  before: unknown,
  after: unknown,
  path: string,
  seen: Set<unknown>,
): Generator<Difference> {
  if (before === after) return;
  if (typeof after !== "object" || after === null || typeof before !== "object" || before === null) {
    yield { path, before: String(before), after: String(after) };
    return;
  }
  if (seen.has(before)) return;
  seen.add(before);
  const [olds, news] = [entriesOf(before), entriesOf(after)];
  for (const [i, [key, value]] of olds.entries()) {
    const [newKey, newValue] = news[i] ?? [key, value];
    if (key === "lc_kwargs") continue;
    const name = key === newKey ? key : "[a key]";
    if (key !== newKey) yield { path: joined(path, name), before: key, after: newKey };
    yield* differences(value, newValue, joined(path, name), seen);
  }
}

function entriesOf(value: object): [name: string, value: unknown][] {
  if (Array.isArray(value)) return value.map((item, i) => [`[${idOf(item) ?? i}]`, item]);
  if (value instanceof Set) return [...value].map((item, i) => [`[${i}]`, item]);
  if (value instanceof Map) return [...value].map(([key, item]) => [String(key), item]);
  const own = value instanceof Error ? { ...value, message: value.message, cause: value.cause } : value;
  return Object.entries(own);
}

function idOf(item: unknown): string | undefined {
  const id = typeof item === "object" && item !== null && "id" in item ? item.id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

const joined = (path: string, name: string): string =>
  path === "" || name.startsWith("[") ? path + name : `${path}.${name}`;
