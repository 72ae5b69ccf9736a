import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findRedisBinary, requireRedisBinary } from "./binary.js";
import { startRedis } from "./redis.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "drover-binary-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function program(name: string, mode = 0o755): string {
  const file = join(folder, name);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "#!/bin/sh\necho no Redis at all\nexit 3\n");
  chmodSync(file, mode);
  return file;
}

test("finds redis-server, or else valkey-server, in the order of the PATH", () => {
  const valkey = program("a/valkey-server");
  expect(findRedisBinary(join(folder, "a"))).toBe(valkey);
  const redis = program("b/redis-server");
  expect(findRedisBinary(`${join(folder, "a")}:${join(folder, "b")}`)).toBe(redis);
});

test("passes by what can't be executed and what is a folder", () => {
  program("redis-server", 0o644);
  mkdirSync(join(folder, "valkey-server"));
  expect(findRedisBinary(folder)).toBeUndefined();
});

test("says what to type when there is none", () => {
  expect(() => requireRedisBinary(folder)).toThrow(
    expect.objectContaining({
      code: "NO_REDIS",
      message: expect.stringMatching(
        /npm run setup.*apt-get install redis-server.*brew install redis.*REDIS_URL/,
      ),
    }),
  );
});

test("a binary that ends at once is told with its own words", async () => {
  const dir = join(folder, "data");
  await expect(startRedis({ binary: program("broken"), dir })).rejects.toMatchObject({
    code: "NO_REDIS",
    message: expect.stringMatching(/ended at its start[\s\S]*no Redis at all/),
  });
});
