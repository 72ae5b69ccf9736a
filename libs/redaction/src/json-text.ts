/** A string, or a number that is not part of a string, in JSON text. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/gs;
const CONTAINER = /^\s*[[{]/;
const KEY_FOLLOWS = /\s*:/y;

/**
 * JSON in a string, as tool-call arguments and tool results often are: each string in it is redacted as what it
 * means (`\n`, `\u0040`), under its key as label, and stays a JSON string; a number becomes one. All else, spacing
 * and long numbers included, stays as it is written. Text that is not a JSON object or array is given back.
 */
export function redactedJson(text: string, redact: (token: string, key: string) => string): string {
  if (!CONTAINER.test(text) || !isJson(text)) return text;
  let key = "";
  return text.replace(TOKEN, (token: string, offset: number) => {
    if (token.startsWith('"')) {
      const plain = JSON.parse(token) as string;
      KEY_FOLLOWS.lastIndex = offset + token.length;
      const isKey = KEY_FOLLOWS.test(text);
      const redacted = plain === "" ? plain : redact(plain, isKey ? "" : key);
      if (isKey) key = plain;
      return redacted === plain ? token : JSON.stringify(redacted);
    }
    const redacted = redact(token, key);
    return redacted === token ? token : JSON.stringify(redacted);
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
