/** Where a text stands when a rule looks at it: the label `place` of the redaction counter. */
export const REDACTION_PLACES = [
  "input",
  "output",
  "tool_args",
  "tool_result",
  "reasoning",
  "structured_output",
  "approval",
  "memory",
  "file",
  "error",
  "event",
  "log",
  "metadata",
] as const;
export type RedactionPlace = (typeof REDACTION_PLACES)[number];

/** How a match is replaced. `block` refuses the whole text. */
export const REDACTION_STRATEGIES = ["redact", "mask", "hash", "block"] as const;
export type RedactionStrategy = (typeof REDACTION_STRATEGIES)[number];

/** One match of a rule; never holds the text itself. */
export interface Redaction {
  type: string;
  strategy: RedactionStrategy;
  place: RedactionPlace;
  count: number;
}

/**
 * Takes out of texts what the rules cover. Implemented by libs/redaction; applied by the producer, the saver,
 * the events, the logger and the exporters, not only by middleware.
 */
export interface Redactor {
  /** The text with every match replaced. Throws DroverError PII_BLOCKED, without the text, where a rule blocks. */
  text(text: string, place: RedactionPlace): string;
  /**
   * A copy of a JSON-like value (objects, arrays, strings; class instances of LangChain messages keep their
   * class) with every string redacted and the shape kept. Returns the same reference where nothing matched.
   */
  value<T>(value: T, place: RedactionPlace): T;
}

/** The redactor of an agent without rules. */
export const NO_REDACTION: Redactor = {
  text: (text) => text,
  value: (value) => value,
};
