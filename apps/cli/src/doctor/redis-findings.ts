import type { Client } from "@drover/queue";
import { duration } from "../output/format.js";
import { type Finding, note, ok, wrong } from "./finding.js";

/** Scripts, streams and ZRANGE … REV as they are used here. */
const OLDEST: readonly [number, number] = [6, 2];
const CLOCK_NOTE_MS = 1000;
const CLOCK_WRONG_MS = 30_000;
const MEMORY_SHARE = 0.8;

/** What Redis says of itself, by INFO: managed ones often refuse CONFIG. */
export async function redisFindings(client: Client): Promise<Finding[]> {
  const info = parseInfo(await client.state.redis.info());
  return [
    version(info),
    persistence(info),
    disk(info),
    eviction(info),
    memory(info),
    role(info),
    await clock(client),
  ].filter((finding) => finding !== null);
}

type Info = Readonly<Record<string, string>>;

export function parseInfo(text: string): Info {
  const pairs = text.split(/\r?\n/).flatMap((line) => {
    const colon = line.indexOf(":");
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function version({ redis_version: found = "", valkey_version: valkey }: Info): Finding {
  const name = valkey ? `Valkey ${valkey}` : `Redis ${found}`;
  const [major = 0, minor = 0] = found.split(".").map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (!isOld) return ok("version", name);
  return wrong("version", `${name} is too old`, `Use Redis ${OLDEST.join(".")} or later, or Valkey.`);
}

function persistence({ aof_enabled: aof }: Info): Finding {
  if (aof === "1") return ok("persistence", "append-only file");
  return wrong(
    "persistence",
    "there is no append-only file: what was accepted is lost when Redis restarts",
    "Set `appendonly yes` in redis.conf, or type: redis-cli CONFIG SET appendonly yes",
  );
}

function disk({ aof_last_write_status: aof, rdb_last_bgsave_status: rdb }: Info): Finding | null {
  if (aof === "err" || rdb === "err") {
    return wrong(
      "disk",
      "the last write to the disk failed",
      "Free space on Redis's disk; its log says more.",
    );
  }
  return null;
}

function eviction({ maxmemory_policy: policy }: Info): Finding {
  if (policy === "noeviction") return ok("eviction", "noeviction");
  return wrong(
    "eviction",
    `maxmemory-policy is ${policy}: Redis may throw runs away when memory is short`,
    "Set `maxmemory-policy noeviction` in redis.conf, or type: redis-cli CONFIG SET maxmemory-policy noeviction",
  );
}

function memory(info: Info): Finding {
  const used = Number(info.used_memory ?? 0);
  const most = Number(info.maxmemory ?? 0);
  const inWords = `${info.used_memory_human ?? "?"} used${most > 0 ? ` of ${info.maxmemory_human}` : ", no limit"}`;
  if (most > 0 && used >= most) {
    return wrong(
      "memory",
      `${inWords}: full, it refuses writes`,
      "Give Redis more memory now (maxmemory): everything waits for that.",
    );
  }
  if (most > 0 && used / most > MEMORY_SHARE) {
    return wrong(
      "memory",
      `${inWords}: almost full`,
      "Give Redis more memory (maxmemory), or let batches finish.",
    );
  }
  return ok("memory", inWords);
}

function role({ role: found }: Info): Finding | null {
  if (found === "master" || found === undefined) return null;
  return wrong("role", `this is a ${found}: it takes no writes`, "Set REDIS_URL to the primary.");
}

/** Redis's clock is the one that counts; a machine whose own is off shows wrong times. */
async function clock(client: Client): Promise<Finding> {
  const before = Date.now();
  const redis = await client.state.indexes.now();
  const difference = Math.abs(redis - (before + Date.now()) / 2);
  const inWords = `${duration(difference)} between Redis and this machine`;
  if (difference > CLOCK_WRONG_MS) {
    return wrong("clock", inWords, "Set the clocks (NTP): times that are shown here are wrong.");
  }
  return difference > CLOCK_NOTE_MS ? note("clock", inWords, "Set the clocks (NTP).") : ok("clock", inWords);
}
