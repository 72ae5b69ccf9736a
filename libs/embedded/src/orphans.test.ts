import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "./process.js";
import { redisCommand } from "./resp.js";

const FIXTURE = fileURLToPath(new URL("./owner.fixture.mjs", import.meta.url));

interface Owned {
  url: string;
  port: number;
  pid: number;
  dir: string;
}

/** `ownGroup`: signals can go to the owner's whole process group, as a terminal sends them. */
async function owner(): Promise<{ child: ChildProcess; pid: number; redis: Owned }> {
  const child = fork(FIXTURE, [], { detached: true, execArgv: [] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [redis] = (await once(child, "message")) as [Owned];
  return { child, pid: child.pid ?? 0, redis };
}

function ping(redis: Owned): Promise<string> {
  return redisCommand({ port: redis.port, password: new URL(redis.url).password }, ["PING"]);
}

async function expectNothingLeft(redis: Owned): Promise<void> {
  await expect.poll(() => isAlive(redis.pid), { timeout: 5_000 }).toBe(false);
  await expect.poll(() => existsSync(redis.dir), { timeout: 5_000 }).toBe(false);
}

test("kill -9 of the owner ends Redis and removes its temporary folder", async () => {
  const { child, redis } = await owner();
  expect(await ping(redis)).toBe("PONG");
  child.kill("SIGKILL");
  await expectNothingLeft(redis);
});

test("kill -9 of the owner's whole process group ends Redis", async () => {
  const { pid, redis } = await owner();
  process.kill(-pid, "SIGKILL");
  await expectNothingLeft(redis);
});

test("a Redis that hangs is ended too", async () => {
  const { child, redis } = await owner();
  process.kill(redis.pid, "SIGSTOP");
  child.kill("SIGKILL");
  await expect.poll(() => isAlive(redis.pid), { timeout: 20_000, interval: 200 }).toBe(false);
});

test("Ctrl-C reaches the owner, not its Redis, which serves until the owner has finished", async () => {
  const { child, pid, redis } = await owner();
  process.kill(-pid, "SIGINT");
  expect(await ping(redis)).toBe("PONG");
  const stopped = once(child, "message");
  child.send("stop");
  expect((await stopped)[0]).toBe("stopped");
  expect(isAlive(redis.pid)).toBe(false);
});
