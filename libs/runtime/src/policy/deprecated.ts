type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function warn(older: string, newer: string): void {
  process.emitWarning(`${older} is now ${newer}.`, "DeprecationWarning");
}

/** The older names of `onFailure`, which still work and warn. */
const OLDER_ACTIONS: Readonly<Record<string, string>> = { raise: "error", return_message: "continue" };

export function renamedAction(value: unknown): unknown {
  const name = typeof value === "string" ? OLDER_ACTIONS[value] : undefined;
  if (name === undefined) return value;
  warn(`onFailure '${String(value)}'`, `'${name}'`);
  return name;
}

/** The older names in `summarization`, which still work and warn; a newer name beside an older one wins. */
export function renamedSummarization(value: unknown): unknown {
  if (!isFields(value)) return value;
  const { maxTokensBeforeSummary: tokens, messagesToKeep: messages, ...rest } = value;
  if (tokens !== undefined) warn("maxTokensBeforeSummary", "trigger: { tokens }");
  if (messages !== undefined) warn("messagesToKeep", "keep: { messages }");
  return {
    ...(tokens === undefined ? {} : { trigger: { tokens } }),
    ...(messages === undefined ? {} : { keep: { messages } }),
    ...rest,
  };
}
