/**
 * The path of the first key that stands twice in one object of a valid JSON text, or undefined: JSON.parse keeps the
 * last one and says nothing.
 */
export function duplicateKey(json: string): string | undefined {
  /** For each open object its keys and the newest one; null for an open array. */
  const open: ({ keys: Set<string>; newest: string } | null)[] = [];
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]/g)) {
    if (token === "{") open.push({ keys: new Set(), newest: "" });
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const object = open.at(-1);
      if (!object) continue;
      object.newest = JSON.parse(token.slice(0, -1)) as string;
      if (object.keys.has(object.newest)) return open.flatMap((level) => level?.newest ?? []).join(".");
      object.keys.add(object.newest);
    }
  }
  return undefined;
}
