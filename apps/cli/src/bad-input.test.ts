/** What a user learns who typed something wrong: each message, each exit code. One Redis, no worker, no agent loaded. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { drover, type Ended } from "./testing/drover.js";

vi.setConfig({ testTimeout: 90_000 });

let redis: RedisServer;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  redis = await startRedis();
  folder = mkdtempSync(join(tmpdir(), "drover-bad-"));
  env = { REDIS_URL: redis.url };
  writeFileSync(join(folder, "a.txt"), "BLUE HERON\n42.80");
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

const type = (words: string[], more: Record<string, string> = {}, input?: string): Promise<Ended> =>
  drover(words, { cwd: folder, env: { ...env, ...more }, ...(input === undefined ? {} : { input }) });

/** One line, `CODE: message`, without a stack, and nothing on standard output. */
function expectComplaint({ code, stdout, stderr }: Ended, exitCode: number, message: RegExp): void {
  expect(stderr).toMatch(message);
  expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^[A-Z_]+: /);
  expect(stderr).not.toMatch(/\n {4}at /);
  expect(stdout).toBe("");
  expect(code).toBe(exitCode);
}

describe.concurrent("the command line itself", () => {
  it.each([
    [["bach"], /INVALID_CONFIG: unknown command 'bach' \(Did you mean batch\?\)/],
    [["batch", "clerk"], /INVALID_CONFIG: missing required argument 'paths'/],
    [["runs", "list", "--stat", "error"], /INVALID_CONFIG: unknown option '--stat'/],
    [["runs", "list", "--status", "broken"], /Allowed choices are pending, running, interrupted/],
    [["run", "clerk", "--priority", "high"], /Write a whole number from 0 to 10/],
    [["run", "clerk", "--delay", "soon"], /Write a time like 500ms, 10s/],
  ])("%j", async (words, message) => {
    expectComplaint(await type(words), 2, message);
  });
});

describe.concurrent("a run", () => {
  it.each([
    ["no input", ["run", "clerk"], /INVALID_INPUT: There is no input: give --input "text"/],
    [
      "two inputs",
      ["run", "clerk", "-i", "a", "--input-json", "{}"],
      /INVALID_INPUT: Give --input or --input-json/,
    ],
    ["an empty input", ["run", "clerk", "--input", " "], /INVALID_INPUT: The input is empty/],
    [
      "a missing file",
      ["run", "clerk", "--input", "@none.txt"],
      /UNREADABLE_DOCUMENT: none.txt: the file is gone/,
    ],
    [
      "broken JSON",
      ["run", "clerk", "--input-json", "{a}"],
      /INVALID_INPUT: --input-json is not JSON: .*@file\.json/,
    ],
    ["JSON that is no object", ["run", "clerk", "--input-json", "[1]"], /--input-json is not a JSON object/],
    [
      "a broken context",
      ["run", "clerk", "-i", "a", "--context", "{"],
      /INVALID_INPUT: --context is not JSON/,
    ],
    [
      "a key of the policy",
      ["run", "clerk", "-i", "a", "--context", '{"runLimit": 99}'],
      /RESERVED_KEY: .*'runLimit' can be set by the agent's policy only/,
    ],
    [
      "a thread id with a control character",
      ["run", "clerk", "-i", "a", "--thread", "a\u0007b"],
      /INVALID_INPUT: .*threadId: a thread id has no control characters/,
    ],
    [
      "a thread id that is too long",
      ["run", "clerk", "-i", "a", "--thread", "x".repeat(257)],
      /threadId: a thread id has at most 256 characters/,
    ],
    [
      "an agent's name that is none",
      ["run", "../clerk", "-i", "a"],
      /INVALID_INPUT: .*agent: use 1 to 64 letters, digits/,
    ],
  ])("with %s", async (_, words, message) => {
    expectComplaint(await type(words), 2, message);
  });
});

describe.concurrent("things that are not there", () => {
  it.each([
    [["runs", "show", "nope"], /UNKNOWN_RUN: There is no run 'nope'. `drover runs list` shows/],
    [["batches", "show", "nope"], /UNKNOWN_BATCH: There is no batch 'nope'. `drover batches list` shows/],
    [["approvals", "approve", "nope"], /UNKNOWN_APPROVAL: There is no approval 'nope'/],
    [["agents", "show", "clerk"], /UNKNOWN_AGENT: There is no langgraph.json in/],
    [["batch", "clerk", "a.txt"], /UNKNOWN_AGENT: There is no agent 'clerk'. None is known here/],
  ])("%j", async (words, message) => {
    expectComplaint(await type(words), 3, message);
  });
});

describe.concurrent("Redis", () => {
  it("that is away at the start", async () => {
    const REDIS_URL = "redis://127.0.0.1:1";
    expectComplaint(
      await type(["queue", "stats"], { REDIS_URL }),
      4,
      /NO_REDIS: Redis does not answer. Check that it runs/,
    );
  });

  it("with an address that is none", async () => {
    expectComplaint(
      await type(["queue", "stats"], { REDIS_URL: "localhost" }),
      2,
      /INVALID_CONFIG: .*REDIS_URL: use redis:/,
    );
  });

  it("with a wrong password", async () => {
    const REDIS_URL = `redis://:wrong@127.0.0.1:${redis.port}`;
    const ended = await type(["queue", "stats"], { REDIS_URL });
    expectComplaint(ended, 4, /REDIS_REFUSED: .*password in REDIS_URL/);
    expect(ended.stderr).not.toContain("wrong");
  });

  it("of a folder that has none, which stays as it was", async () => {
    const bare = mkdtempSync(join(tmpdir(), "drover-bare-"));
    const ended = await drover(["batches", "list"], { cwd: bare });
    expectComplaint(ended, 4, /NO_REDIS: There is nothing to ask: REDIS_URL is not set/);
    expect(readdirSync(bare)).toEqual([]);
    rmSync(bare, { recursive: true });
  });
});

it("shows the stack to who asks for it", async () => {
  const { stderr } = await type(["runs", "show", "nope", "--verbose"]);
  expect(stderr).toMatch(/^UNKNOWN_RUN: .*\n[\s\S]*\n {4}at /);
});
