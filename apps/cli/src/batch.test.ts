/** Batches and runs, by the built command line against a real Redis and one worker process. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  createProject,
  drover,
  type Ended,
  jsonLines,
  killStarted,
  type Started,
  start,
  until,
} from "./testing/drover.js";

// Each command is a process of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let redis: RedisServer;
/** To look without starting a process each time. */
let client: Client;
let project: ReturnType<typeof createProject>;
let worker: Started;
/** Holds documents and no langgraph.json: a producer on another machine. */
let folder: string;
beforeAll(async () => {
  redis = await startRedis();
  client = new Client({ redisUrl: redis.url });
  project = createProject();
  worker = start(["worker", "--concurrency", "10"], {
    cwd: project.folder,
    env: { REDIS_URL: redis.url, DROVER_DRAIN_MS: "300" },
  });
  folder = mkdtempSync(join(tmpdir(), "drover-documents-"));
  await until(() => worker.said().includes("worker ready"), worker.said);
});
afterAll(async () => {
  worker.child.kill("SIGTERM");
  const { code } = await worker.ended;
  killStarted();
  await client.close();
  await redis.stop();
  project.remove();
  rmSync(folder, { recursive: true });
  expect(code).toBe(0);
});

const type = (words: string[], env: Record<string, string> = {}): Promise<Ended> =>
  drover(words, { cwd: folder, env: { REDIS_URL: redis.url, ...env } });

/** Documents in a folder of their own, from name to content. */
function documents(name: string, files: Record<string, string>): string {
  mkdirSync(join(folder, name));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, name, file), content);
  return name;
}

const results = (file: string): Record<string, unknown>[] =>
  jsonLines(readFileSync(join(folder, file), "utf8"));
const statuses = (file: string): string[] =>
  results(file)
    .map((l) => `${l.document} ${l.status}`)
    .sort();

describe("a batch", () => {
  it("has one line for each document, whatever became of it, and takes answers later", async () => {
    documents("mixed", {
      "000.txt": "BLUE HERON\n42.80",
      "001.txt": "fail\n1",
      "002.txt": "ask me",
      "003.txt": "",
      "004.jsonl": '{"text": "LANTERN STREET\\n9"}\n{"text": "IRONWOOD\\n7"}\n',
    });
    const batch = await type(["batch", "clerk", "mixed", "--out", "mixed.jsonl"]);
    expect(batch.code).toBe(0);
    expect(statuses("mixed.jsonl")).toEqual([
      "mixed/000.txt success",
      "mixed/001.txt error",
      "mixed/002.txt interrupted",
      "mixed/003.txt error",
      "mixed/004.jsonl#1 success",
      "mixed/004.jsonl#2 success",
    ]);
    const byName = new Map(results("mixed.jsonl").map((line) => [line.document, line]));
    expect(byName.get("mixed/000.txt")).toMatchObject({
      endedBy: "completed",
      output: { company: "BLUE HERON", total: 42.8 },
      error: null,
      approvals: [],
      attempts: 1,
      tokens: 0,
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      finishedAt: expect.stringMatching(/Z$/),
    });
    expect(byName.get("mixed/001.txt")).toMatchObject({ error: { code: "AGENT_ERROR" }, output: null });
    const unreadable = { code: "UNREADABLE_DOCUMENT", message: "mixed/003.txt: the document is empty." };
    expect(byName.get("mixed/003.txt")).toMatchObject({ runId: null, threadId: null, error: unreadable });
    const [approval = ""] = (byName.get("mixed/002.txt")?.approvals ?? []) as string[];
    expect(batch.stdout).toContain(`drover approvals respond ${approval}`);
    expect(batch.stdout).toMatch(/UNREADABLE_DOCUMENT\n {4}003.txt: the document is empty/);

    const answer = await type(["approvals", "respond", approval, "--value", "12.5", "--by", "ada"]);
    expect(answer.stdout).toContain("is answered");
    const resumed = await type(["batch", "clerk", "mixed", "--out", "mixed.jsonl", "--resume", "--json"]);
    expect(resumed.values()).toMatchObject([
      { isDone: true, counts: { success: 4, error: 1, interrupted: 0 }, refused: 1, waiting: [] },
    ]);
    expect(statuses("mixed.jsonl")).toContain("mixed/002.txt success");
    expect(results("mixed.jsonl")).toHaveLength(6);

    const { batchId } = resumed.values()[0] as { batchId: string };
    writeFileSync(
      join(folder, "truth.jsonl"),
      '{"id": "000", "company": "blue heron", "total": "42.8"}\n{"id": "001", "company": "x", "total": "1"}\n',
    );
    const score = await type(["batches", "score", batchId, "--truth", "truth.jsonl", "--json"]);
    expect(score.values()).toMatchObject([
      { documents: 2, failed: 1, share: 0.5, fields: { company: { right: 1, share: 0.5 } }, withoutTruth: 3 },
    ]);
    const failed = await type(["batches", "results", batchId, "--status", "error", "--json"]);
    expect(failed.values()).toMatchObject([{ document: "mixed/001.txt", error: { code: "AGENT_ERROR" } }]);
  });

  it("tries a part first, estimates the rest, and goes on with it", async () => {
    const files = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${i}.txt`, `FIRM ${i}\n${i}`]));
    documents("many", files);
    const trial = await type(["batch", "clerk", "many", "--out", "many.jsonl", "--limit", "4", "--json"]);
    expect(trial.values()).toMatchObject([{ documents: 4, estimate: { documents: 5 } }]);
    expect(results("many.jsonl")).toHaveLength(4);
    const rest = await type(["batch", "clerk", "many", "--out", "many.jsonl", "--resume"]);
    expect(rest.code).toBe(0);
    expect(statuses("many.jsonl")).toEqual(Object.keys(files).map((name) => `many/${name} success`));
  });

  it("that was killed goes on where it was, each document once", async () => {
    const names = Array.from({ length: 60 }, (_, i) => `${String(i).padStart(2, "0")}.txt`);
    documents("killed", Object.fromEntries(names.map((name) => [name, "slow 200"])));
    const words = ["batch", "clerk", "killed", "--out", "killed.jsonl"];
    const first = start(words, { cwd: folder, env: { REDIS_URL: redis.url } });
    await until(() => readFileSync(join(folder, "killed.jsonl"), { flag: "a+" }).length > 0, first.said);
    first.child.kill("SIGKILL");
    await first.ended;
    appendFileSync(join(folder, "killed.jsonl"), '{"document":"killed/59.txt","sta');
    const second = await type([...words, "--resume"]);
    expect(second.code).toBe(0);
    expect(statuses("killed.jsonl")).toEqual(names.map((name) => `killed/${name} success`));
  });

  it("that is interrupted says how to go on; that is cancelled ends, and fails where nothing came of it", async () => {
    documents("endless", { "a.txt": "slow 60000", "b.txt": "slow 60000" });
    const words = ["batch", "clerk", "endless", "--out", "endless.jsonl"];
    const first = start(words, { cwd: folder, env: { REDIS_URL: redis.url } });
    const batchId = await until(() => /batch_[0-9a-f]+/.exec(first.said())?.[0], first.said);
    await until(async () => (await client.batch(batchId)).counts.running === 2, first.said);
    first.child.kill("SIGINT");
    // npm hands a signal on that the terminal has sent already.
    first.child.kill("SIGINT");
    const interrupted = await first.ended;
    expect([interrupted.code, interrupted.stdout]).toEqual([130, ""]);
    expect(interrupted.stderr).toMatch(
      /To go on: drover batch clerk endless --out \S+endless.jsonl --resume/,
    );

    const second = start([...words, "--resume"], { cwd: folder, env: { REDIS_URL: redis.url } });
    await until(() => second.said().includes("0 documents to enqueue"), second.said);
    const cancelled = await type(["batches", "cancel", batchId, "--reason", "wrong folder", "--json"]);
    expect(cancelled.values()).toEqual([{ batchId, cancelled: 2 }]);
    expect((await second.ended).code).toBe(1);
    expect(statuses("endless.jsonl")).toEqual(["endless/a.txt cancelled", "endless/b.txt cancelled"]);
    expect(results("endless.jsonl")[0]?.error).toEqual({ code: "CANCELLED", message: "wrong folder" });
  });
});

describe("Redis in the middle of a batch", () => {
  it("may be away for a while: the batch waits, and no document is lost or done twice", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `${String(i).padStart(2, "0")}.txt`);
    documents("away", Object.fromEntries(names.map((name) => [name, "slow 300"])));
    const words = ["batch", "clerk", "away", "--out", "away.jsonl"];
    const batch = start(words, { cwd: folder, env: { REDIS_URL: redis.url } });
    await until(() => readFileSync(join(folder, "away.jsonl"), { flag: "a+" }).length > 0, batch.said);
    await redis.kill();
    await until(() => batch.said().includes("Redis does not answer; waiting for it"), batch.said);
    await redis.restart();
    expect((await batch.ended).code).toBe(0);
    expect(batch.said()).toContain("Redis answers again.");
    expect(statuses("away.jsonl")).toEqual(names.map((name) => `away/${name} success`));
  });
});

describe("a run", () => {
  it("is waited for, followed and found again with its thread", async () => {
    const waited = await type(["run", "clerk", "-i", "OAK\n5", "--thread", "t/1 ü", "--wait", "--json"]);
    expect(waited.code).toBe(0);
    const [run] = waited.values();
    expect(run).toMatchObject({
      status: "success",
      threadId: "t/1 ü",
      output: { company: "OAK", total: 5 },
    });
    const streamed = await type(["run", "clerk", "-i", "ELM\n6", "--thread", "t/1 ü", "--stream", "--json"]);
    const types = streamed.values().map((event) => event.type);
    expect(types).toContain("updates");
    expect(types.at(-1)).toBe("result");
    const thread = await type(["threads", "show", "t/1 ü", "--json"]);
    expect(thread.values()).toMatchObject([
      { threadId: "t/1 ü", current: null, runs: [{ runId: run?.runId }, { status: "success" }] },
    ]);
    const tail = await type(["runs", "tail", String(run?.runId), "--json"]);
    expect(tail.values().at(-1)).toMatchObject({ type: "status", status: "success" });
  });

  it("that fails, or waits for a person, ends the command with a code of its own", async () => {
    const failed = await type(["run", "clerk", "-i", "fail now", "--wait"]);
    expect([failed.code, failed.stdout]).toEqual([1, ""]);
    expect(failed.stderr).toMatch(/AGENT_ERROR: .*the clerk can't read this/);
    const asked = await type(["run", "clerk", "-i", "ask me", "--wait"]);
    expect([asked.code, asked.stdout]).toEqual([5, expect.stringContaining("approvals respond apr_")]);
    const late = await type(["run", "clerk", "-i", "slow 60000", "--wait", "--timeout", "300ms"]);
    expect([late.code, late.stderr]).toEqual([1, expect.stringMatching(/RESULT_TIMEOUT: .*it goes on/)]);
  });

  it("is refused over the limit and with an unknown agent", async () => {
    const input = ["--input", "x".repeat(3000)];
    const large = await type(["run", "clerk", ...input], { DROVER_MAX_PAYLOAD_BYTES: "2000" });
    expect([large.code, large.stderr]).toEqual([
      2,
      expect.stringMatching(/INPUT_TOO_LARGE: .*raise DROVER_MAX_PAYLOAD_BYTES/),
    ]);
    const unknown = await type(["run", "clark", "-i", "a"]);
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining("Known are: clerk.")]);
  });

  it("of a paused queue waits until the queue goes on", async () => {
    await client.pause("agent:clerk");
    // A worker learns of it with its next heartbeat.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const waiting = start(["run", "clerk", "-i", "late\n1", "--wait", "--json"], {
      cwd: folder,
      env: { REDIS_URL: redis.url },
    });
    await until(async () => (await client.listRuns({ status: "pending" })).length > 0, waiting.said);
    const stats = await type(["queue", "stats", "--json"]);
    expect(stats.values()).toMatchObject([{ paused: ["agent:clerk"], workers: [{ concurrency: 10 }] }]);
    const resumed = await type(["queue", "resume", "--agent", "clerk"]);
    expect(resumed.code).toBe(0);
    expect((await waiting.ended).values()).toMatchObject([{ status: "success" }]);
  });
});

describe("dead letters", () => {
  it("are all that can be dropped", async () => {
    const words = ["runs", "list", "--status", "error", "--code", "AGENT_ERROR", "--limit", "1", "--json"];
    const [run] = (await type(words)).values();
    expect(run).toMatchObject({ status: "error", error: { code: "AGENT_ERROR" } });
    const dropped = await type(["dead-letters", "drop", String(run?.runId)]);
    expect([dropped.code, dropped.stderr]).toEqual([
      1,
      expect.stringMatching(/ILLEGAL_TRANSITION: .*is no dead letter/),
    ]);
  });
});

describe("doctor", () => {
  it("finds nothing wrong here, and says what is wrong with another Redis", async () => {
    const well = await type(["doctor", "--json"]);
    expect(well.values().filter(({ state }) => state === "wrong")).toEqual([]);
    expect(well.code).toBe(0);
    const volatile = await startRedis({ appendonly: false });
    const ill = await type(["doctor"], { REDIS_URL: volatile.url });
    await volatile.stop();
    expect([ill.code, ill.stdout]).toEqual([
      1,
      expect.stringMatching(/wrong {2}persistence .*\n .*appendonly yes/),
    ]);
  });
});
