import type { Redis } from "./connect.js";

/** What a Redis says of itself. Of a Cluster: of the master that is fullest, and whether all of them can write. */
export interface RedisFacts {
  usedMemoryBytes: number;
  /** Null where Redis has no limit of its own. */
  maxMemoryBytes: number | null;
  clients: number;
  /** False where the last write of the append-only file or of a snapshot failed. */
  canPersist: boolean;
  /** Keys that Redis threw away to make room: with `noeviction` it is 0. */
  evictedKeys: number;
}

export async function readRedisFacts(redis: Redis): Promise<RedisFacts> {
  const facts = (await infos(redis)).map(factsOf);
  const fullness = (f: RedisFacts) => f.usedMemoryBytes / (f.maxMemoryBytes ?? Number.POSITIVE_INFINITY);
  const [fullest] = facts.toSorted(
    (a, b) => fullness(b) - fullness(a) || b.usedMemoryBytes - a.usedMemoryBytes,
  );
  if (!fullest) throw new Error("no node answered");
  return {
    ...fullest,
    clients: facts.reduce((sum, f) => sum + f.clients, 0),
    canPersist: facts.every((f) => f.canPersist),
    evictedKeys: facts.reduce((sum, f) => sum + f.evictedKeys, 0),
  };
}

function infos(redis: Redis): Promise<string[]> {
  const cluster = redis as unknown as { isCluster: boolean; nodes(role: "master"): Redis[] };
  return Promise.all((cluster.isCluster ? cluster.nodes("master") : [redis]).map((node) => node.info()));
}

function factsOf(info: string): RedisFacts {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const max = Number(field("maxmemory"));
  return {
    usedMemoryBytes: Number(field("used_memory")),
    maxMemoryBytes: max > 0 ? max : null,
    clients: Number(field("connected_clients")),
    canPersist: field("aof_last_write_status") !== "err" && field("rdb_last_bgsave_status") !== "err",
    evictedKeys: Number(field("evicted_keys")),
  };
}
