import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDroverError, type RunEvent } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { RedisSaver } from "@drover/state/checkpoints";
import { RedisStore } from "@drover/state/memory";
import { afterEach, describe, expect, it } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";

const project = fileURLToPath(new URL("../testing/secrets/", import.meta.url));
const key = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const WAIT = { timeoutMs: 60_000 };

/** A text for each place that stores what people, models and tools write. */
const PLACES = [
  "input",
  "context",
  "metadata",
  "document",
  "argument",
  "edited",
  "comment",
  "memory",
  "output",
  "error",
  "reason",
  "letter",
  "batch",
] as const;
const planted = Object.fromEntries(PLACES.map((place) => [place, `planted-${place}-7Q4z`])) as Record<
  (typeof PLACES)[number],
  string
>;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Stage {
  server: RedisServer;
  dir: string;
  fleet: Fleet;
  open(encryptionKeys: string | undefined): Client;
}

async function stage(): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), "drover-secrets-"));
  const server = await startRedis({ dir, appendfsync: "always" });
  const fleet = createFleet(server.url, "e", project);
  closing.push(
    () => rmSync(dir, { recursive: true, force: true }),
    () => server.stop(),
    () => fleet.end(),
  );
  const open = (encryptionKeys: string | undefined) => {
    const readAnswer = (_: unknown, answer: unknown) => answer;
    const client = new Client({ redisUrl: server.url, prefix: "e", encryptionKeys, readAnswer });
    closing.push(() => client.close());
    return client;
  };
  return { server, dir, fleet, open };
}

/** Runs with an approval, an edited call, memory, events, a failure, a cancelled one, a dead letter, a webhook. */
async function playEverything(client: Client): Promise<RunEvent[]> {
  await client.openBatch({ agent: "keeper", batchId: "b", metadata: { note: planted.batch } });
  const handle = await client.enqueueRun({
    agent: "keeper",
    batchId: "b",
    threadId: "conversation",
    document: planted.document,
    input: JSON.stringify({
      note: planted.input,
      pay: planted.argument,
      remember: planted.memory,
      say: planted.output,
    }),
    context: { customer: planted.context },
    metadata: { customer: planted.metadata },
    streamMode: ["updates", "messages", "custom"],
    webhook: { url: "http://127.0.0.1:9/", key: "none" },
  });
  const asked = await handle.result(WAIT);
  expect(asked.status).toBe("interrupted");
  await client.decide(asked.approvals[0] ?? "", {
    decisions: [{ type: "edit", editedAction: { name: "pay", args: { memo: planted.edited } } }],
    comment: planted.comment,
  });
  const run = await handle.result({ ...WAIT, stopAtInterrupt: false });
  expect(run).toMatchObject({ status: "success", output: planted.output, document: planted.document });
  expect(run.metadata).toEqual({ customer: planted.metadata });

  const failed = await client.enqueueRun({ agent: "failing", input: { why: planted.error }, maxAttempts: 1 });
  expect((await failed.result(WAIT)).error?.message).toContain(planted.error);
  const late = await client.enqueueRun({ agent: "keeper", input: "later", delayMs: 3_600_000 });
  await late.cancel(planted.reason);
  const told: RunEvent[] = [];
  for await (const event of late.events()) told.push(event);
  expect(JSON.stringify(told)).toContain(planted.reason);

  const { deadLetters } = client.state;
  await deadLetters.add("default", { code: "INVALID_MESSAGE", message: planted.letter }, planted.letter, 1);
  expect((await deadLetters.list("default", 1))[0]?.reason.message).toBe(planted.letter);
  expect((await client.batch("b")).metadata).toEqual({ note: planted.batch });
  const [approval] = await client.approvals.ofRun(run.runId);
  expect(approval?.actions?.[0]?.args).toEqual({ memo: planted.argument });
  expect(approval?.answer?.comment).toBe(planted.comment);
  const events: RunEvent[] = [];
  for await (const event of handle.events()) events.push(event);
  return events;
}

/** Everything on Redis's disk, as bytes: the append-only file and a dump. */
async function dump({ dir }: Stage, client: Client): Promise<{ rdb: Buffer; aof: Buffer }> {
  const { redis } = client.state;
  // Compressed, a dump would hide plain texts from this test.
  await redis.config("SET", "rdbcompression", "no");
  await redis.save();
  const files = readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());
  const read = (part: RegExp) =>
    Buffer.concat(files.filter((path) => part.test(path)).map((path) => readFileSync(path)));
  return { rdb: read(/dump\.rdb$/), aof: read(/appendonlydir/) };
}

const foundIn = (bytes: Buffer): string[] => PLACES.filter((place) => bytes.includes(planted[place]));

describe("what Redis writes to its disk", { timeout: 120_000 }, () => {
  it("holds none of the planted texts where everything is encrypted, and everybody with the keys reads them", async () => {
    const scene = await stage();
    const keys = `2026=${key(1)}`;
    await scene.fleet.start({ DROVER_ENCRYPTION_KEYS: keys });
    const client = scene.open(keys);
    const events = await playEverything(client);
    expect(JSON.stringify(events)).toContain(planted.memory);
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set(["status", "updates", "messages", "custom"]),
    );
    const { rdb, aof } = await dump(scene, client);
    expect([rdb.length, aof.length].every((length) => length > 10_000)).toBe(true);
    expect(foundIn(rdb)).toEqual([]);
    expect(foundIn(aof)).toEqual([]);

    // A newer key writes, the older one is still read; without it, nothing is.
    const newer = scene.open(`2027=${key(2)},${keys}`);
    const runs = await newer.listRuns();
    expect(runs.map(({ output }) => output ?? null)).toEqual([null, null, null]);
    const { redis, keys: names, codec } = newer.state;
    const options = { redis, keys: names, tenant: "default", ...(codec ? { codec } : {}) };
    const tuple = await new RedisSaver(options).getTuple({ configurable: { thread_id: "conversation" } });
    expect(JSON.stringify(tuple?.checkpoint.channel_values)).toContain(planted.output);
    expect((await new RedisStore(options).get(["notes"], "last"))?.value).toEqual({ text: planted.memory });
  });

  it("holds them where nothing is encrypted", async () => {
    const scene = await stage();
    await scene.fleet.start();
    const client = scene.open(undefined);
    await playEverything(client);
    const { rdb, aof } = await dump(scene, client);
    expect(foundIn(rdb)).toEqual([...PLACES]);
    expect(foundIn(aof)).toEqual([...PLACES]);
  });
});

describe("a process whose keys are not those of the others", { timeout: 60_000 }, () => {
  it("is told so before it writes or reads anything", async () => {
    const scene = await stage();
    const keys = `2026=${key(1)}`;
    const client = scene.open(keys);
    const run = await client.enqueueRun({
      agent: "keeper",
      input: planted.input,
      metadata: { a: planted.metadata },
    });
    const request = { agent: "keeper", input: "x" };
    for (const [wrong, message] of [
      [undefined, /needs|does not have/],
      [`2026=${key(9)}`, /'2026' is not the one that encrypted/],
      [`2027=${key(2)}`, /encryption key '2026' encrypted.*Add it/],
    ] as const) {
      const other = scene.open(wrong);
      await expect(other.enqueueRun(request)).rejects.toThrow(message);
      await expect((await other.run(run.runId)).status()).rejects.toSatisfy((error: unknown) =>
        isDroverError(error, "INVALID_CONFIG"),
      );
    }
    await expect(scene.fleet.start()).rejects.toThrow(/worker: INVALID_CONFIG: .*'2026' encrypted/);
    const given = scene.open(`2027=${key(2)},2026=`);
    await given.enqueueRun(request);
    await expect((await given.run(run.runId)).status()).rejects.toThrow("'2026'");
    expect((await (await client.run(run.runId)).status()).metadata).toEqual({ a: planted.metadata });
  });

  it("does not start with a saver that could not encrypt, nor on a server without the saver's modules", async () => {
    const scene = await stage();
    const settings = { DROVER_CHECKPOINTS: "redis-json" };
    await expect(scene.fleet.start(settings)).rejects.toThrow(
      /INVALID_CONFIG: .*no RedisJSON and no RediSearch/,
    );
    const both = { ...settings, DROVER_ENCRYPTION_KEYS: `2026=${key(1)}` };
    await expect(scene.fleet.start(both)).rejects.toThrow(/INVALID_CONFIG: .*DROVER_ENCRYPTION_KEYS is set/);
  });

  it.each([
    ["2026", "is a list like"],
    ["2026=short", "it needs 32"],
    [`2026=${key(1)},2026=${key(2)}`, "twice"],
    ["2026=", "no key that could encrypt"],
  ])("reads %s as no list of keys, and repeats no key", (text, message) => {
    const open = () => new Client({ redisUrl: "redis://127.0.0.1:1", encryptionKeys: text });
    expect(open).toThrow(`DROVER_ENCRYPTION_KEYS `);
    expect(open).toThrow(message);
    expect(open).not.toThrow(key(1));
  });
});
