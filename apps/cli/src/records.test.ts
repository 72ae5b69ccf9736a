import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client, publish, settle } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProject, drover, killStarted, start } from "./testing/drover.js";

let server: RedisServer;
let client: Client;
let project: ReturnType<typeof createProject>;

beforeAll(async () => {
  server = await startRedis();
  client = new Client({ redisUrl: server.url });
  project = createProject();
});
afterAll(async () => {
  killStarted();
  await client.close();
  await server.stop();
  project.remove();
});

const call = (...args: string[]) => drover(args, { cwd: project.folder, env: { REDIS_URL: server.url } });

/** A run that succeeded, as a worker ends one. */
async function finished(threadId: string, customer: string): Promise<string> {
  const { state, queue } = client;
  const run = await client.enqueueRun({
    agent: "clerk",
    threadId,
    input: `of ${threadId}`,
    metadata: { customer },
  });
  const claimed = await state.runs.claim(run, 1, "w", { clerk: "1" });
  if (claimed.what !== "claimed") throw new Error(claimed.what);
  const output = { kind: "completed", output: "done", endedBy: "completed", usage: noUsage() } as const;
  const transition = await settle(state, claimed.lease, { attempt: 1, maxAttempts: 1 }, output);
  await publish(state, queue, [claimed.transition, ...(transition ? [transition] : [])]);
  return run.runId;
}

it("writes all of a long list into a pipe that is read slowly", { timeout: 60_000 }, async () => {
  const requests = Array.from({ length: 300 }, (_, i) => ({
    agent: "lister",
    input: `${i}`,
    delayMs: 600_000,
  }));
  await client.enqueueMany(requests);
  const list = start(["runs", "list", "--agent", "lister", "--limit", "1000", "--json"], {
    cwd: project.folder,
    env: { REDIS_URL: server.url },
  });
  list.child.stdout?.pause();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  list.child.stdout?.resume();
  const { code, values } = await list.ended;
  expect([code, values().length]).toEqual([0, 300]);
});

describe("runs list", { timeout: 60_000 }, () => {
  it("says how many more there are, also where its output goes on as JSON", async () => {
    const requests = Array.from({ length: 25 }, (_, i) => ({
      agent: i < 23 ? "many" : "few",
      input: `${i}`,
      delayMs: 600_000,
    }));
    await client.enqueueMany(requests);
    const part = await call("runs", "list", "--agent", "many", "--json");
    expect([part.values().length, part.stderr]).toEqual([20, "… and 3 more: --limit shows them.\n"]);
    const all = await call("runs", "list", "--agent", "many", "--limit", "23", "--json");
    expect([all.values().length, all.stderr]).toEqual([23, ""]);
  });

  it("finds the runs that another worker took over, whatever became of them", async () => {
    const { state, queue } = client;
    const run = await client.enqueueRun({ agent: "clerk", threadId: "taken", input: "x" });
    const claimed = await state.runs.claim(run, 1, "gone", { clerk: "1" });
    if (claimed.what !== "claimed") throw new Error(claimed.what);
    const { transitions } = await state.runs.takeover(run, "gone", true);
    await publish(state, queue, [claimed.transition, ...transitions]);
    const { values } = await call("runs", "list", "--taken-over", "--json");
    expect(values()).toMatchObject([{ runId: run.runId, crashes: 1 }]);
    expect((await call("runs", "show", run.runId)).stdout).toContain("its worker died or stood still 1 time");
  });
});

it("doctor says that a full Redis is full, and does not send for workers that it refuses", async () => {
  await client.state.redis.config("SET", "maxmemory", "1mb");
  const { code, values } = await call("doctor", "--json");
  await client.state.redis.config("SET", "maxmemory", "0");
  const finding = (name: string) => values().find(({ what }) => what === name);
  expect(code).toBe(1);
  expect(finding("memory")).toMatchObject({
    state: "wrong",
    message: expect.stringMatching(/full, it refuses writes$/),
  });
  expect(finding("workers")?.mend).toMatch(/^Give Redis memory first/);
  expect(finding("agents")?.state).not.toBe("wrong");
});

describe("runs export", { timeout: 120_000 }, () => {
  it("writes what ended as JSON lines, and goes on with a file that a kill cut short", async () => {
    const ids = [await finished("t1", "a"), await finished("t2", "b")];
    const waiting = await client.enqueueRun({ agent: "clerk", input: "waits", delayMs: 60_000 });
    const out = join(project.folder, "runs.jsonl");
    const first = await call("runs", "export", "--older-than", "0s", "--out", "runs.jsonl", "--json");
    expect(first.values()).toEqual([{ exported: 2, skipped: 0, endedBefore: expect.any(String), out }]);
    const lines = () =>
      readFileSync(out, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { run: { runId: string; output: unknown }; input: unknown });
    expect(lines().map(({ run }) => run.runId)).toEqual(ids);
    expect(lines()[0]).toMatchObject({
      run: { output: "done", status: "success" },
      input: "of t1",
      approvals: [],
    });

    ids.push(await finished("t3", "c"));
    appendFileSync(out, '{"run": {"runId": "to');
    const second = await call("runs", "export", "--older-than", "0s", "--out", "runs.jsonl", "--json");
    expect(second.values()).toMatchObject([{ exported: 1, skipped: 2 }]);
    expect(lines().map(({ run }) => run.runId)).toEqual(ids);
    expect(ids).not.toContain(waiting.runId);

    const [none, wrongFile, noFolder] = await Promise.all(
      ["others.jsonl", "langgraph.json", "no/such/folder.jsonl"].map((file) =>
        call("runs", "export", "--out", file, "--json"),
      ),
    );
    expect(none?.values()).toMatchObject([{ exported: 0, skipped: 0 }]);
    expect([wrongFile?.code, wrongFile?.stderr]).toEqual([
      2,
      expect.stringMatching("something else than exported runs"),
    ]);
    expect([noFolder?.code, noFolder?.stderr]).toEqual([2, expect.stringMatching("can't be written")]);
  });
});

describe("threads erase and erase", { timeout: 120_000 }, () => {
  it("remove a thread, a subject, nothing else, and say how much that was", async () => {
    const [one, two, other] = [
      await finished("e1", "4711"),
      await finished("e2", "4711"),
      await finished("e3", "5"),
    ];
    const erased = await call("threads", "erase", "e1", "--json");
    expect(erased.values()).toMatchObject([{ threads: 1, runs: 1 }]);
    await expect(client.run(one)).rejects.toThrow("There is no run");
    expect(await call("threads", "erase", "e1")).toMatchObject({
      code: 3,
      stderr: expect.stringMatching("UNKNOWN_THREAD"),
    });
    const subject = await call("erase", "--subject", "customer=4711");
    expect(subject.stdout).toMatch(/^Erased 1 thread with 1 run, /);
    await expect(client.run(two)).rejects.toThrow("There is no run");
    expect((await client.run(other)).threadId).toBe("e3");

    const busy = await client.enqueueRun({ agent: "clerk", threadId: "e4", input: "x", delayMs: 60_000 });
    const refused = await call("threads", "erase", "e4");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(`ILLEGAL_TRANSITION: Run ${busy.runId}`),
    ]);
    await client.cancelRun(busy.runId);
    expect((await call("threads", "erase", "e4")).code).toBe(0);
  });
});
