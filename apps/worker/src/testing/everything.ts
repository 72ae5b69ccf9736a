import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import type { Redis } from "@drover/state";

/** All that a Redis holds, as one text: for tests that look for what must not be there. */
export async function everythingIn(redis: Redis): Promise<string> {
  const keys = await redis.keys("*");
  const values = await Promise.all(
    keys.map(async (key): Promise<unknown> => {
      switch (await redis.type(key)) {
        case "string":
          return redis.getBuffer(key);
        case "hash":
          return redis.hgetallBuffer(key);
        case "list":
          return redis.lrangeBuffer(key, 0, -1);
        case "set":
          return redis.smembersBuffer(key);
        case "zset":
          return redis.zrangeBuffer(key, 0, "-1");
        default:
          return redis.xrangeBuffer(key, "-", "+");
      }
    }),
  );
  return [keys.join("\n"), ...values.map(textIn)].join("\n");
}

/** All that Redis wrote to its folder: the append-only file and its base, a snapshot, its log. */
export function filesOf(dir: string): string {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => legible(readFileSync(path)))
    .join("\n");
}

function textIn(value: unknown): string {
  if (Buffer.isBuffer(value)) return legible(value);
  if (Array.isArray(value)) return value.map(textIn).join("\n");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([field, inner]) => `${field} ${textIn(inner)}`)
      .join("\n");
  }
  return String(value);
}

/** What stands before each deflated text that Drover stores: payloads, and checkpoints with their memory. */
const MARKS = [0x7a, 0x01];

/** Bytes as text, with everything in them that was deflated. */
export function legible(bytes: Buffer): string {
  const texts = [bytes.toString()];
  for (const mark of MARKS) {
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
      const text = inflated(bytes.subarray(at + 1));
      if (text.length > 256) texts.push(text);
    }
  }
  return texts.join("\n");
}

function inflated(bytes: Buffer): string {
  try {
    return inflateRawSync(bytes).toString();
  } catch {
    return "";
  }
}
