/** What finished runs cost in Redis's memory while they are kept, and what is left of them afterwards. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { root } from "../setup.mjs";
import { startChild, WORKER } from "./child.mjs";
import { withCleanUp } from "./clean-up.mjs";
import { startScriptedWorker } from "./scripted-runs.mjs";
import { rounded } from "./statistics.mjs";

const RUNS = 100_000;
const CHUNK = 1000;
/** Runs before anything is measured: scripts, queues and lists are there then. */
const WARM_UP = 100;
const PREFIX = "bench-memory";
/** Milliseconds between two looks. */
const LOOK_MS = 100;
const LONGEST_RETENTION_S = 31 * 86_400;
/** Milliseconds that Redis and the sweeper get to forget what is over. */
const FORGET_MS = 1_200_000;

/** BENCH_RUNS sets their number. */
export async function measure(say) {
  const runs = Number(process.env.BENCH_RUNS ?? RUNS);
  return withCleanUp((later) => measureMemory(runs, later, say));
}

/** Beyond it a worker would take hours, and every run after the first costs the same. */
const MOST_BY_WORKER = 5000;

/**
 * Finishes runs of an agent that calls a model once, on a worker process; then their time is over, and the worker's
 * sweeper forgets them. Many are scripted (scripted-runs.mjs), after the worker has shown what one is. Bytes are Redis's own `used_memory`.
 */
export async function measureMemory(runs, later, say) {
  const redis = await startRedis({ appendonly: false });
  later(() => redis.stop());
  const client = new Client({ redisUrl: redis.url, prefix: PREFIX });
  later(() => client.close());
  const worker = await startChild(WORKER, {
    REDIS_URL: redis.url,
    DROVER_PREFIX: PREFIX,
    DROVER_ROOT: join(root, "scripts/bench/project"),
    DROVER_CONCURRENCY: "40",
    LOG_LEVEL: "error",
  });
  later(() => worker.stop());
  await finish(client, WARM_UP, say);
  await letTimePass(client);
  const empty = await settledMemory(client);
  if (runs > MOST_BY_WORKER) {
    await finish(client, 1, say);
    const [model] = await client.listRuns({ limit: 1 });
    await worker.stop();
    later(await startScriptedWorker(client, redis.url, model));
  }
  await finish(client, runs, say);
  const kept = await settledMemory(client);
  const parts = await largestParts(client, runs);
  await letTimePass(client);
  const after = await settledMemory(client);
  return {
    runs,
    bytesPerRun: Math.round((kept - empty) / runs),
    leftBytesPerRun: rounded((after - empty) / runs),
    parts,
  };
}

async function finish(client, runs, say) {
  for (let done = 0; done < runs; done += CHUNK) {
    const batch = await client.openBatch({ agent: "calls-once" });
    const requests = Array.from({ length: Math.min(CHUNK, runs - done) }, (_, i) => ({
      agent: "calls-once",
      input: `Please file the expense of ${done + i} crowns for the train to the customer in Brno.`,
      batchId: batch.batchId,
    }));
    await client.enqueueMany(requests);
    await client.sealBatch(batch.batchId);
    while ((await client.state.indexes.count(client.tenant, "pending")) > 0) await sleep(LOOK_MS);
    while ((await client.state.indexes.count(client.tenant, "running")) > 0) await sleep(LOOK_MS);
    say(`${done + requests.length} of ${runs} runs`);
  }
}

/** Makes all that is kept older than any retention, and waits until it is forgotten: by Redis itself, and by the sweeper. */
async function letTimePass({ state, tenant }) {
  const { redis, keys } = state;
  let cursor = "0";
  do {
    const [next, page] = await redis.scan(cursor, "COUNT", 1000);
    cursor = next;
    const lives = await Promise.all(page.map((name) => redis.ttl(name)));
    const passing = page.filter((_, i) => lives[i] >= 0 && lives[i] <= LONGEST_RETENTION_S);
    await Promise.all(passing.map((name) => redis.pexpire(name, 1)));
  } while (cursor !== "0");
  const expiring = keys.index("expiring");
  for (;;) {
    const members = await redis.zrangebyscore(expiring, "1", "+inf", "LIMIT", 0, CHUNK);
    if (members.length === 0) break;
    await redis.zadd(expiring, ...members.flatMap((member) => [0, member]));
  }
  const end = performance.now() + FORGET_MS;
  while ((await redis.zcard(keys.index(`runs:${tenant}`))) > 0) {
    if (performance.now() > end) throw new Error("what is over was not forgotten");
    await sleep(LOOK_MS);
  }
}

/** The least of a few looks: buffers of connections come and go. */
async function settledMemory(client) {
  const looks = [];
  for (let i = 0; i < 10; i += 1) {
    await sleep(LOOK_MS);
    const [, memory = ""] = /used_memory:(\d+)/.exec(await client.state.redis.info("memory")) ?? [];
    looks.push(Number(memory));
  }
  return Math.min(...looks);
}

/** Bytes a run by kind of key, of a sample of threads and of everything in the indexes, largest first. */
async function largestParts(client, runs) {
  const { redis } = client.state;
  const bytes = new Map();
  let threads = 0;
  const add = (kind, size) => bytes.set(kind, (bytes.get(kind) ?? 0) + size);
  let cursor = "0";
  const names = [];
  do {
    const [next, page] = await redis.scan(cursor, "COUNT", 1000);
    cursor = next;
    names.push(...page);
  } while (cursor !== "0" && names.length < 20_000);
  for (const [name, size] of await sizesOf(
    redis,
    names.filter((name) => !name.includes("{index}")),
  )) {
    if (name.endsWith(":thread")) threads += 1;
    add(name.replace(/^.*?\}:?/, "").replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "*"), size);
  }
  const perRun = [...bytes].map(([kind, size]) => [kind, size / Math.max(threads, 1)]);
  const inIndex = await redis.keys(`${PREFIX}:{index}:*`);
  const index = new Map();
  for (const [name, size] of await sizesOf(redis, inIndex)) {
    const kind = name
      .replace(/^.*?\}/, "")
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "*")
      .replace(/batch:[^:]*/, "batch:*");
    index.set(kind, (index.get(kind) ?? 0) + size);
  }
  const all = [...perRun, ...[...index].map(([kind, size]) => [kind, size / runs])];
  return Object.fromEntries(
    all
      .sort(([, a], [, b]) => b - a)
      .slice(0, 12)
      .map(([kind, size]) => [kind, Math.round(size)]),
  );
}

async function sizesOf(redis, names) {
  const sizes = [];
  for (let from = 0; from < names.length; from += CHUNK) {
    const some = names.slice(from, from + CHUNK);
    const found = await Promise.all(some.map((name) => redis.memory("USAGE", name, "SAMPLES", 0)));
    sizes.push(...some.map((name, i) => [name, Number(found[i])]));
  }
  return sizes;
}

export function rows({ runs, bytesPerRun, leftBytesPerRun, parts }) {
  return [
    ["figure", "measured", "aim"],
    [`bytes of a finished run, of ${runs}`, `${bytesPerRun}`, "10,240 or less"],
    ["bytes left of one when its time is over", `${leftBytesPerRun}`, "0"],
    ...Object.entries(parts).map(([kind, bytes]) => [`… ${kind}`, `${bytes}`, ""]),
  ];
}
