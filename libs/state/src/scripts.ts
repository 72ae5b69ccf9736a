import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Redis } from "./connect.js";
import { asDroverError } from "./redis-errors.js";

const folder = new URL("../lua/", import.meta.url);
const prelude = readFileSync(new URL("prelude.lua", folder), "utf8");

export interface Script {
  name: string;
  source: string;
  sha: string;
}

/** A script of lua/, with the prelude and what it needs of others before it. */
export function loadScript(name: string, ...needs: readonly string[]): Script {
  const read = (part: string) => readFileSync(new URL(`${part}.lua`, folder), "utf8");
  const source = [prelude, ...needs.map(read), read(name)].join("\n");
  return { name, source, sha: createHash("sha1").update(source).digest("hex") };
}

export type ScriptArg = string | number | Buffer;

/** ioredis has these two; its type declarations leave the first one out. */
interface BinaryEval {
  evalshaBuffer(sha: string, ...rest: readonly ScriptArg[]): Promise<unknown>;
  evalBuffer(source: string, ...rest: readonly ScriptArg[]): Promise<unknown>;
}

/**
 * Runs a script in one round trip; sends its source only to a server that does not know it.
 * Replies are Buffers, since some hold bytes. Errors of Redis become DroverErrors that say what to do.
 */
export async function runScript(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly ScriptArg[],
): Promise<unknown> {
  const client = redis as unknown as BinaryEval;
  const rest = [keys.length, ...keys, ...args];
  try {
    return await client.evalshaBuffer(script.sha, ...rest);
  } catch (error) {
    if (!isNoScript(error)) throw asDroverError(error);
  }
  try {
    return await client.evalBuffer(script.source, ...rest);
  } catch (error) {
    throw asDroverError(error);
  }
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

/** Names one call of a script, so that it knows itself again where it is sent a second time. */
export function newToken(): string {
  return randomUUID().slice(-12);
}

/** The first element of a script's reply says what happened. */
export function replyWords(reply: unknown): { what: string; rest: (Buffer | number | null)[] } {
  const [what, ...rest] = reply as (Buffer | number | null)[];
  return { what: String(what), rest };
}
