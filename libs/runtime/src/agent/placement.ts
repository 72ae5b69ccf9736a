import type { AgentMiddleware } from "langchain";

/**
 * Where an agent's own middleware stands around the policy. Its node hooks (before and after) keep the order of
 * the list in every place.
 *
 * outermost: around fallbacks and retries; sees one call for each model turn, and each tool call once.
 * inner (the default): inside them, around each single try: of a model call by wrapModelCall, of a tool call by
 * wrapToolCall. A unit of a limit is taken further inside still.
 * last: the innermost of the agent's own, whatever the order of the list: what marks a request as it will be sent.
 */
export const PLACES = ["outermost", "inner", "last"] as const;
export type Place = (typeof PLACES)[number];

export type MiddlewareEntry = AgentMiddleware | { place: Place; middleware: AgentMiddleware };

export function middlewareOf(entry: MiddlewareEntry): AgentMiddleware {
  return "middleware" in entry ? entry.middleware : entry;
}

/** Undefined for what is no entry. */
export function placeOf(entry: object): Place | undefined {
  if ("middleware" in entry) {
    const { place, middleware } = entry as { place?: unknown; middleware: unknown };
    const inner = typeof middleware === "object" && middleware !== null && placeOf(middleware);
    return inner ? PLACES.find((known) => known === place) : undefined;
  }
  return "name" in entry && typeof entry.name === "string" ? "inner" : undefined;
}
