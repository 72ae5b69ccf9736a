import { isBaseMessage } from "@langchain/core/messages";

/**
 * A value of a graph as JSON: messages become `{ type, id, content, … }` as LangGraph's SDKs show them, dates become
 * ISO 8601, and what JSON can't hold is left out.
 */
export function toPlain(value: unknown): unknown {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, replaced: unknown) {
    // JSON.stringify has asked the message's own toJSON by now, whose shape is LangChain's own.
    const original = key === "" && this[""] === value ? value : this[key];
    if (isBaseMessage(original)) {
      const { type, data } = original.toDict();
      return { ...data, type };
    }
    return typeof replaced === "bigint" ? replaced.toString() : replaced;
  });
  return text === undefined ? null : JSON.parse(text);
}
