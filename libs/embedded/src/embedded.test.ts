import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { type EmbeddedRedis, embeddedRedis } from "./embedded.js";
import { isAlive } from "./process.js";
import { startRedis } from "./redis.js";
import { redisCommand } from "./resp.js";

const FIXTURE = fileURLToPath(new URL("./owner.fixture.mjs", import.meta.url));

/** Beyond the highest process id of Linux and macOS. */
const NO_PROCESS = 2 ** 22 + 1;

let root: string;

beforeEach(({ onTestFinished: lastOfAll }) => {
  root = mkdtempSync(join(tmpdir(), "drover-project-"));
  lastOfAll(() => rmSync(root, { recursive: true }));
});

async function otherProcess(): Promise<{ child: ChildProcess; redis: EmbeddedRedis }> {
  const child = fork(FIXTURE, [root], { execArgv: [] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [redis] = (await once(child, "message")) as [EmbeddedRedis];
  return { child, redis };
}

async function open(): Promise<EmbeddedRedis> {
  const redis = await embeddedRedis({ root });
  onTestFinished(() => redis.stop());
  return redis;
}

function send(redis: EmbeddedRedis, ...args: string[]): Promise<string> {
  return redisCommand({ port: redis.port, password: new URL(redis.url).password }, args);
}

const recordFile = () => join(root, ".drover", "redis.json");

test("the first starts it and stops it, the second finds it and leaves it alone", async () => {
  const first = await open();
  const { child, redis: second } = await otherProcess();
  expect(first.ownsIt).toBe(true);
  expect(second).toMatchObject({ ownsIt: false, url: first.url, pid: first.pid });
  const stopped = once(child, "message");
  child.send("stop");
  await stopped;
  expect(await send(first, "PING")).toBe("PONG");
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);
  expect(readdirSync(join(root, ".drover"))).toEqual(["redis"]);
});

test("stop may be called twice, and when somebody has removed the folder", async () => {
  const redis = await open();
  rmSync(join(root, ".drover"), { recursive: true });
  await redis.stop();
  await redis.stop();
  expect(isAlive(redis.pid)).toBe(false);
});

test("only the user may read the record", async () => {
  const { url, port, pid } = await open();
  expect(statSync(recordFile()).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(recordFile(), "utf8"))).toEqual({ url, port, pid, owner: process.pid });
});

test("processes that start at the same time get the same one, and one of them owns it", async () => {
  const all = await Promise.all([otherProcess(), otherProcess(), otherProcess(), open()]);
  const found = all.map((one) => ("redis" in one ? one.redis : one));
  expect(new Set(found.map(({ pid }) => pid)).size).toBe(1);
  expect(found.filter(({ ownsIt }) => ownsIt)).toHaveLength(1);
});

test("the data is there again, also when the last owner was killed", async () => {
  const { child, redis } = await otherProcess();
  await send(redis, "SET", "kept", "yes");
  const died = once(child, "exit");
  child.kill("SIGKILL");
  await died;
  const next = await open();
  expect(next.ownsIt).toBe(true);
  expect(next.pid).not.toBe(redis.pid);
  expect(await send(next, "GET", "kept")).toBe("yes");
});

test("an orphan that nobody watches any more is stopped, and its data taken over", async () => {
  const orphan = await startRedis({ dir: join(root, ".drover", "redis") });
  const { url, port, pid } = orphan;
  writeFileSync(recordFile(), JSON.stringify({ url, port, pid, owner: NO_PROCESS }));
  await redisCommand({ port, password: new URL(url).password }, ["SET", "kept", "yes"]);
  const next = await open();
  expect(isAlive(orphan.pid)).toBe(false);
  expect(await send(next, "GET", "kept")).toBe("yes");
});

test.each([
  ["a dead process", { pid: NO_PROCESS }],
  ["a process that is no Redis", { pid: process.pid }],
])("a record that names %s is not believed", async (_, wrong) => {
  await (await open()).stop();
  const record = { url: "redis://:x@127.0.0.1:1", port: 1, owner: process.pid, ...wrong };
  writeFileSync(recordFile(), JSON.stringify(record));
  expect((await open()).ownsIt).toBe(true);
});

test.each(["", "{", "null", '{"url":"?"}'])(
  "a record with the content %j is not believed",
  async (content) => {
    await (await open()).stop();
    writeFileSync(recordFile(), content);
    expect((await open()).ownsIt).toBe(true);
  },
);

test("a second server is never started beside one that hangs: it says which process to stop", async () => {
  const first = await open();
  process.kill(first.pid, "SIGSTOP");
  onTestFinished(() => void process.kill(first.pid, "SIGCONT"));
  await expect(embeddedRedis({ root, silenceLimitMs: 500 })).rejects.toMatchObject({
    code: "NO_REDIS",
    message: expect.stringContaining(`kill ${first.pid}`),
  });
});
