import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "./process.js";
import { type RedisServer, startRedis } from "./redis.js";
import { redisCommand } from "./resp.js";

async function start(...args: Parameters<typeof startRedis>): Promise<RedisServer> {
  const server = await startRedis(...args);
  onTestFinished(() => server.stop());
  return server;
}

function send(server: RedisServer, ...args: string[]): Promise<string> {
  return redisCommand({ port: server.port, password: new URL(server.url).password }, args);
}

async function setting(server: RedisServer, name: string): Promise<string | undefined> {
  return (await send(server, "CONFIG", "GET", name)).split("\n")[1];
}

test("starts a server that keeps its data, refuses instead of evicting, and lets in only who knows", async () => {
  const server = await start();
  expect(await send(server, "PING")).toBe("PONG");
  // Without a user, redis-cli sends an empty one, which Redis refuses.
  expect(new URL(server.url).username).toBe("default");
  expect(await setting(server, "appendonly")).toBe("yes");
  expect(await setting(server, "maxmemory-policy")).toBe("noeviction");
  expect(await setting(server, "bind")).toBe("127.0.0.1");
  await expect(redisCommand({ port: server.port }, ["PING"])).rejects.toThrow(/NOAUTH/);
});

test("the options reach redis.conf", async () => {
  const server = await start({ maxmemory: "5mb", appendonly: false, appendfsync: "always" });
  expect(await setting(server, "maxmemory")).toBe(String(5 * 1024 * 1024));
  expect(await setting(server, "appendonly")).toBe("no");
  expect(await setting(server, "appendfsync")).toBe("always");
});

test("stop ends the process and removes a temporary folder; a second stop does nothing", async () => {
  const server = await start();
  await server.stop();
  expect(isAlive(server.pid)).toBe(false);
  expect(existsSync(server.dir)).toBe(false);
  await server.stop();
});

test("restart keeps port, password and data, after a stop in order and after kill -9", async () => {
  const server = await start({ appendfsync: "always" });
  const { url, port, pid } = server;
  await send(server, "SET", "greeting", "käse");
  await server.restart();
  expect(server.pid).not.toBe(pid);
  expect([server.url, server.port]).toEqual([url, port]);
  expect(await send(server, "GET", "greeting")).toBe("käse");

  await send(server, "APPEND", "greeting", "!");
  await server.kill("SIGKILL");
  expect(isAlive(server.pid)).toBe(false);
  await server.restart();
  expect(await send(server, "GET", "greeting")).toBe("käse!");
});

test("another server on the same folder has the data too", async () => {
  // The folder's name must not have to be quoted anywhere.
  const dir = mkdtempSync(join(tmpdir(), "drover redis' \"ü-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const first = await start({ dir });
  await send(first, "SET", "kept", "yes");
  await first.stop();
  const second = await start({ dir });
  expect(await send(second, "GET", "kept")).toBe("yes");
});

test("a stopped process is hung, not gone, and goes on afterwards", async () => {
  const server = await start();
  await server.kill("SIGSTOP");
  expect(isAlive(server.pid)).toBe(true);
  await server.kill("SIGCONT");
  expect(await send(server, "PING")).toBe("PONG");
});

test("says why it does not start on a port that is taken", async () => {
  const { port } = await start();
  await expect(startRedis({ port })).rejects.toMatchObject({
    code: "NO_REDIS",
    message: expect.stringContaining("Address already in use"),
  });
});
