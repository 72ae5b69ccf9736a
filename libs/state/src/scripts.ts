import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { DroverError } from "@drover/contracts";
import type { Redis } from "./connect.js";

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

/** A failed command in the words of a DroverError: what Redis refused and what to do about it. */
export function asDroverError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const message = error.message;
  if (/^(OOM|-?OOM)|OOM command not allowed/.test(message)) {
    return refused("it has no memory left (maxmemory). Nothing was stored; give it more, or wait", error);
  }
  if (message.startsWith("MISCONF")) {
    return refused("it cannot write to its disk. Nothing was stored; free space on Redis's disk", error);
  }
  if (message.startsWith("READONLY")) {
    return refused("it is a read-only replica. Connect to the primary", error);
  }
  // What a transaction was refused for is said of its commands alone: a full Redis, nearly always.
  if (message.startsWith("EXECABORT")) {
    return refused(
      "it refused a part of a transaction. Nothing was stored; see its memory and its log",
      error,
    );
  }
  if (/^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|UNBLOCKED)\b/.test(message)) {
    return refused("it takes no commands at the moment. Wait, or see its log", error);
  }
  if (/NOAUTH|WRONGPASS|NOPERM/.test(message)) {
    return refused("the user or password in REDIS_URL is missing or not accepted", error);
  }
  if (isConnectionError(error)) {
    return new DroverError(
      "NO_REDIS",
      "Redis does not answer. Check that it runs and that REDIS_URL is right.",
      {
        cause: error,
      },
    );
  }
  return error;
}

function refused(why: string, cause: Error): DroverError {
  return new DroverError("REDIS_REFUSED", `Redis refused a command: ${why}.`, { cause });
}

function isConnectionError(error: Error): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string" && /^E(CONN|PIPE|HOST|NET|TIMEDOUT|AI_)/.test(code)) return true;
  return /Connection is closed|Command aborted due to connection close|max retries per request|Command timed out|Stream isn't writeable/.test(
    error.message,
  );
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
