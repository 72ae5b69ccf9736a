import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFleet, type Fleet } from "../../apps/worker/src/testing/processes.js";

const script = fileURLToPath(new URL("client.mjs", import.meta.url));
const agents = fileURLToPath(new URL("../accounts-payable/", import.meta.url));

let redis: RedisServer;
let fleet: Fleet;

beforeAll(async () => {
  redis = await startRedis();
  fleet = createFleet(redis.url, "plain", agents);
  await fleet.start();
});
afterAll(async () => {
  await fleet.end();
  await redis.stop();
});

it("starts a run, gets its question, answers it and gets its result", async () => {
  const env = { PATH: process.env.PATH, REDIS_URL: redis.url, DROVER_PREFIX: "plain" };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env, timeout: 25_000 });
  const words = stdout.split("\n").map((line) => line.trim().split(/[ :]/)[0]);
  expect(words.filter((word) => word !== "request.admitted")).toEqual([
    "run.interrupted",
    "asked",
    "run.final",
    "success",
    "",
  ]);
  expect(words.filter((word) => word === "request.admitted")).toHaveLength(2);
});

it("needs nothing of Drover", () => {
  const imports = [...readFileSync(script, "utf8").matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
  expect(imports).toEqual(["node:crypto", "bullmq"]);
});
