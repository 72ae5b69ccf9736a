import { isDeepStrictEqual } from "node:util";
import { DroverError } from "@drover/contracts";

export type Filter = Readonly<Record<string, unknown>>;

const OPERATORS: Readonly<Record<string, (value: unknown, wanted: unknown) => boolean>> = {
  $eq: (value, wanted) => isDeepStrictEqual(value, wanted),
  $ne: (value, wanted) => !isDeepStrictEqual(value, wanted),
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.some((one) => isDeepStrictEqual(value, one)),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.some((one) => isDeepStrictEqual(value, one)),
};

/**
 * Whether every field named in the filter is as it says, by the rules of LangGraph's InMemoryStore: a plain value
 * means equal; the ordering operators compare numbers, and nothing compares with what is no number. Objects and
 * arrays are equal if their contents are.
 */
export function passes(value: Readonly<Record<string, unknown>>, filter: Filter): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const found = Object.hasOwn(value, field) ? value[field] : undefined;
    if (!hasOperators(wanted)) return isDeepStrictEqual(found, wanted);
    return Object.entries(wanted).every(([operator, operand]) => OPERATORS[operator]?.(found, operand));
  });
}

function hasOperators(wanted: unknown): wanted is Record<string, unknown> {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) return false;
  return Object.keys(wanted).every((name) => Object.hasOwn(OPERATORS, name));
}

/** Throws INVALID_INPUT for an operator that is not known, which would silently match nothing. */
export function assertFilter(filter: unknown): asserts filter is Filter {
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) {
    throw new DroverError("INVALID_INPUT", "A memory search's filter must be an object of fields.");
  }
  for (const wanted of Object.values(filter)) {
    if (typeof wanted !== "object" || wanted === null || hasOperators(wanted)) continue;
    const unknown = Object.keys(wanted).find((name) => name.startsWith("$"));
    if (unknown === undefined) continue;
    throw new DroverError(
      "INVALID_INPUT",
      `A memory search's filter has '${unknown}' beside or instead of operators. Known are ${Object.keys(OPERATORS).join(", ")}.`,
    );
  }
}
