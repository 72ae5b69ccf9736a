import type { Redis } from "./connect.js";
import type { Keys } from "./keys.js";
import { threadInUse } from "./refusals.js";
import { loadScript, replyWords, runScript } from "./scripts.js";
import type { ThreadRef } from "./transitions.js";

const script = loadScript("erase");
const SCANNED_AT_ONCE = 2000;

/**
 * The names of all keys that begin with `start`, on every node. Looks at all of Redis: nothing is hidden from it.
 * @param start holds only characters that stand for themselves in a pattern of Redis
 */
export async function* keysUnder(redis: Redis, start: string): AsyncGenerator<string[]> {
  for (const node of nodesOf(redis)) {
    let cursor = "0";
    do {
      const [next, page] = await node.scan(cursor, "MATCH", `${start}*`, "COUNT", SCANNED_AT_ONCE);
      cursor = next;
      if (page.length > 0) yield page;
    } while (cursor !== "0");
  }
}

function nodesOf(redis: Redis): Redis[] {
  if (!redis.isCluster) return [redis];
  return (redis as unknown as { nodes(role: "master"): Redis[] }).nodes("master");
}

/** What stands in a thread's own slot. */
export interface ThreadTraces {
  names: string[];
  runIds: string[];
  approvalIds: string[];
}

export async function tracesOf(redis: Redis, keys: Keys, thread: ThreadRef): Promise<ThreadTraces> {
  const { base } = keys.thread(thread.tenant, thread.threadId);
  const found = new Set<string>();
  for await (const page of keysUnder(redis, `${base}:`)) for (const name of page) found.add(name);
  const names = [...found];
  const runIds = new Set(
    names.flatMap((name) => /^:(?:run|events):(.+)$/.exec(name.slice(base.length))?.slice(1) ?? []),
  );
  const raised = await Promise.all(
    [...runIds].map((id) => redis.hget(keys.thread(thread.tenant, thread.threadId).run(id), "approvals")),
  );
  const approvalIds = raised.flatMap((csv) => csv?.split(",").filter(Boolean) ?? []);
  return { names, runIds: [...runIds], approvalIds };
}

/**
 * Removes all that stands in the thread's own slot, in one script. Gives the number of keys.
 * @throws DroverError ILLEGAL_TRANSITION while a run of it is not over
 */
export async function eraseThreadKeys(
  redis: Redis,
  keys: Keys,
  thread: ThreadRef,
  names: readonly string[],
): Promise<number> {
  const { base } = keys.thread(thread.tenant, thread.threadId);
  const { what, rest } = replyWords(await runScript(redis, script, [base], [...names]));
  if (what === "erased") return Number(rest[0]);
  throw threadInUse(thread.threadId, String(rest[0]));
}
