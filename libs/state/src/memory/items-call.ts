import { runScript, type ScriptArg } from "../scripts.js";
import { ITEMS, type MemoryContext } from "./context.js";
import { shardKey, shardOf } from "./layout.js";

/** A call to one item; see lua/memory/items.lua for the letters. */
export type ItemCall =
  | ["g" | "r" | "t" | "d", namespace: string, key: string]
  | ["p", namespace: string, key: string, ttlMs: number, value: string | Buffer];

/** Calls in one script, so that Redis is not held up for long. */
const AT_ONCE = 500;

/** Makes the calls, those of a shard in order and (up to 500) at once, shards side by side. Gives the records read. */
export async function callItems(
  context: MemoryContext,
  calls: readonly ItemCall[],
): Promise<(Buffer | null)[]> {
  const shards = new Map<number, number[]>();
  for (const [i, [, namespace]] of calls.entries()) {
    const shard = shardOf(namespace);
    const positions = shards.get(shard);
    if (positions === undefined) shards.set(shard, [i]);
    else positions.push(i);
  }
  const records: (Buffer | null)[] = calls.map(() => null);
  const callShard = async ([shard, positions]: [number, number[]]): Promise<void> => {
    for (let from = 0; from < positions.length; from += AT_ONCE) {
      const now = positions.slice(from, from + AT_ONCE);
      const args = now.flatMap((i): ScriptArg[] => calls[i] ?? []);
      const replies = (await runScript(
        context.redis,
        ITEMS,
        [shardKey(context, shard)],
        args,
      )) as (Buffer | null)[];
      for (const [n, i] of now.entries()) records[i] = replies[n] ?? null;
    }
  };
  await Promise.all([...shards].map(callShard));
  return records;
}
