import { isDroverError, type Outcome } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Client } from "./client.js";
import {
  completed,
  type ScriptedWorker,
  type ScriptedWorkerOptions,
  scriptedWorker,
  until,
} from "./testing/fleet.js";

let server: RedisServer;
let client: Client;
let workers: ScriptedWorker[] = [];
let n = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => {
  n += 1;
  client = new Client({ redisUrl: server.url, prefix: `q${n}`, readAnswer: (_, answer) => answer });
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await client.close();
});

async function work(options: ScriptedWorkerOptions): Promise<ScriptedWorker> {
  const worker = await scriptedWorker(client, server.url, options);
  workers.push(worker);
  return worker;
}

const code = (wanted: string) => (error: unknown) => isDroverError(error) && error.code === wanted;

describe("enqueueRun", () => {
  it("gives a handle whose result is the agent's", async () => {
    await work({ act: (_, input) => completed({ echo: input }) });
    const handle = await client.enqueueRun({ agent: "clerk", input: "hello" });
    const run = await handle.result({ timeoutMs: 5000 });
    expect(run).toMatchObject({
      status: "success",
      endedBy: "completed",
      output: { echo: "hello" },
      attempt: 1,
    });
  });

  it("says what is wrong with a request, and with which key", async () => {
    const bad = [
      [{ agent: "a b", input: "x" }, /agent: use 1 to 64 letters/],
      [{ agent: "clerk" }, /input/],
      [{ agent: "clerk", input: "x", threadId: "a\u0000b" }, /threadId: .*control/],
      [{ agent: "clerk", input: "x", priority: 11 }, /priority/],
      [{ agent: "clerk", input: "x", retries: 3 }, /retries/],
    ] as const;
    for (const [request, message] of bad) {
      await expect(client.enqueueRun(request as never)).rejects.toThrow(message);
    }
    for (const context of [{ threadLimit: 99 }, { interruptOn: {} }, { applyToInput: false }]) {
      await expect(client.enqueueRun({ agent: "clerk", input: "x", context })).rejects.toSatisfy(
        code("RESERVED_KEY"),
      );
    }
    await expect(
      client.enqueueRun({ agent: "clerk", input: { threadModelCallCount: -100 } }),
    ).rejects.toSatisfy(code("RESERVED_KEY"));
  });

  it("names the agents that there are once a worker has announced some", async () => {
    await work({ act: () => completed() });
    await expect(client.enqueueRun({ agent: "clark", input: "x" })).rejects.toThrow(
      /no agent 'clark'.*clerk/,
    );
    // Known from the moment at which its first worker is there.
    const worker = { host: "h", pid: 1, version: "0", concurrency: 1, active: 0, startedAt: 0, agents: [] };
    await client.state.workers.heartbeat("w", 1000, worker, { agents: { clark: "1" } });
    await expect(client.enqueueRun({ agent: "clark", input: "x" })).resolves.toMatchObject({ behind: null });
  });

  it("refuses an input over the limit and stores nothing of it", async () => {
    const small = new Client({ redisUrl: server.url, prefix: `q${n}`, maxPayloadBytes: 1000 });
    await expect(small.enqueueRun({ agent: "clerk", input: "x".repeat(2000) })).rejects.toThrow(
      /limit is 0.0 MiB/,
    );
    expect(await client.listRuns()).toEqual([]);
    await small.close();
  });

  it("takes thread ids with odd characters and keeps them apart", async () => {
    await work({ act: (_, input) => completed(input) });
    const ids = ["org1", "org1:userA", "{org1}", "a/b", "a%2Fb", "日本語 🎉", "*", "a b?c[d]"];
    const handles = await Promise.all(
      ids.map((threadId) => client.enqueueRun({ agent: "clerk", input: threadId, threadId })),
    );
    const runs = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 5000 })));
    expect(runs.map((run) => [run.threadId, run.output])).toEqual(ids.map((id) => [id, id]));
  });

  it("gives the same run for the same idempotency key and request, and refuses another request", async () => {
    const request = { agent: "clerk", input: { b: 1, a: [2] }, idempotencyKey: "k" };
    const [first, second] = await Promise.all([client.enqueueRun(request), client.enqueueRun(request)]);
    const third = await client.enqueueRun({ ...request, input: { a: [2], b: 1 } });
    expect(new Set([first.runId, second.runId, third.runId]).size).toBe(1);
    expect(new Set([first.threadId, third.threadId]).size).toBe(1);
    await expect(client.enqueueRun({ ...request, input: "other" })).rejects.toSatisfy(
      code("IDEMPOTENCY_CONFLICT"),
    );
    await expect(client.enqueueRun({ ...request, threadId: "t" })).rejects.toSatisfy(
      code("IDEMPOTENCY_CONFLICT"),
    );
    expect(await client.listRuns()).toHaveLength(1);
  });

  it("keeps tenants apart", async () => {
    const other = new Client({ redisUrl: server.url, prefix: `q${n}`, tenant: "other" });
    const { runId } = await client.enqueueRun({ agent: "clerk", input: "x" });
    await expect(other.run(runId)).rejects.toSatisfy(code("UNKNOWN_RUN"));
    await expect(other.cancelRun(runId)).rejects.toSatisfy(code("UNKNOWN_RUN"));
    expect(await other.listRuns()).toEqual([]);
    await expect(other.enqueueRun({ agent: "clerk", input: "x", tenant: "default" })).rejects.toThrow(
      /names tenant/,
    );
    await other.close();
  });

  it("replaces the run that it found, and none that came to stand before it since, when it is sent again", async () => {
    const start = (more: object = {}) =>
      client.enqueueRun({ agent: "clerk", input: "x", threadId: "t", ...more });
    const [first, bystander] = [await start(), await start()];
    const replacing = { multitaskStrategy: "rollback" as const, idempotencyKey: "replacing" };
    await start(replacing);
    expect(await first.status()).toMatchObject({ status: "cancelled" });
    await start(replacing);
    expect(await bystander.status()).toMatchObject({ status: "pending" });
  });
});

describe("the order of runs", () => {
  it("is kept within a thread while threads run beside each other", async () => {
    const worker = await work({ act: () => completed(), concurrency: 10 });
    const requests = Array.from({ length: 60 }, (_, i) => ({
      agent: "clerk",
      input: `${i}`,
      threadId: `t${i % 6}`,
    }));
    const handles = await client.enqueueMany(requests);
    await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 10_000 })));
    for (let t = 0; t < 6; t += 1) {
      const expected = handles.filter((_, i) => i % 6 === t).map((handle) => handle.runId);
      const started = worker.started.filter((p) => p.threadId === `t${t}`).map((p) => p.runId);
      expect(started).toEqual(expected);
    }
  });

  it("holds a delayed run's lane, and priority orders threads", async () => {
    const late = await client.enqueueRun({ agent: "clerk", input: "late", threadId: "t", delayMs: 300 });
    const behind = await client.enqueueRun({ agent: "clerk", input: "behind", threadId: "t" });
    const low = await client.enqueueRun({ agent: "clerk", input: "low", priority: 9 });
    const high = await client.enqueueRun({ agent: "clerk", input: "high", priority: 1 });
    expect(behind.behind).toBe(late.runId);
    const worker = await work({ act: () => completed(), concurrency: 1 });
    await Promise.all([behind, low].map((handle) => handle.result({ timeoutMs: 20_000 })));
    const orderOf = (...runs: { runId: string }[]) =>
      worker.started.map((p) => p.runId).filter((id) => runs.some(({ runId }) => runId === id));
    expect(orderOf(high, low)).toEqual([high.runId, low.runId]);
    expect(orderOf(late, behind)).toEqual([late.runId, behind.runId]);
    const { createdAt, startedAt } = await late.status();
    expect((startedAt ?? 0) - createdAt).toBeGreaterThanOrEqual(300 - 100);
  });
});

describe("a run", () => {
  it("is tried again from a fault that may pass, and fails when its budget is spent", async () => {
    const failed: Outcome = {
      kind: "failed",
      error: { code: "MODEL_ERROR", message: "503" },
      retryable: true,
      endedBy: "error",
      usage: { ...completed().usage, modelCalls: 1 },
    };
    await work({ act: () => failed });
    const run = await (await client.enqueueRun({ agent: "clerk", input: "x", maxAttempts: 2 })).result({
      timeoutMs: 5000,
    });
    expect(run).toMatchObject({
      status: "error",
      attempt: 2,
      error: { code: "MODEL_ERROR" },
      usage: { modelCalls: 2 },
    });
  });

  it("spends no try where Redis refused what it wrote", async () => {
    let tries = 0;
    const refused: Outcome = {
      kind: "failed",
      error: { code: "REDIS_REFUSED", message: "It has no memory left." },
      retryable: true,
      endedBy: "error",
      usage: completed().usage,
    };
    await work({
      act: () => {
        tries += 1;
        return tries > 2 ? completed() : refused;
      },
    });
    const handle = await client.enqueueRun({ agent: "clerk", input: "x", maxAttempts: 1 });
    expect(await handle.result({ timeoutMs: 20_000 })).toMatchObject({
      status: "success",
      attempt: 1,
      seq: 3,
    });
  });

  it("can be followed from any of its events", async () => {
    await work({ act: () => completed() });
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    const seen = [];
    for await (const event of handle.events()) seen.push(event);
    expect(seen.map((e) => e.type === "status" && e.status)).toEqual(["running", "success"]);
    const rest = [];
    for await (const event of handle.events({ since: seen[0]?.id ?? "" })) rest.push(event);
    expect(rest).toEqual(seen.slice(1));
  });

  it("tells a waiter that it goes on when the waiter's time is over", async () => {
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    await expect(handle.result({ timeoutMs: 50 })).rejects.toSatisfy(code("RESULT_TIMEOUT"));
  });

  it("ends at its deadline though no worker takes it", async () => {
    const worker = await work({ act: () => completed(), agents: { other: "1" } });
    const handle = await client.enqueueRun({ agent: "other", input: "x", deadlineMs: 50, delayMs: 60_000 });
    await until(async () => {
      await worker.sweeper.sweep(1000);
      return (await handle.status()).status === "timeout";
    }, "the run timed out");
    expect((await handle.status()).error?.code).toBe("DEADLINE_EXCEEDED");
  });
});

describe("an approval", () => {
  const asks = (): Outcome => ({
    kind: "interrupted",
    checkpointId: "c",
    questions: [
      {
        interruptId: "i",
        actions: [{ name: "post", args: { a: 1 }, description: "d", allowedDecisions: ["approve"] }],
        value: null,
      },
    ],
    usage: completed().usage,
  });

  it("is listed, answered once, and its run goes on by itself", async () => {
    await work({ act: (pointer) => (pointer.seq === 1 ? asks() : completed("posted")) });
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    const waiting = await handle.result({ timeoutMs: 5000 });
    expect(waiting.status).toBe("interrupted");
    const [approval] = await client.listApprovals();
    expect(approval).toMatchObject({ runId: handle.runId, status: "pending", actions: [{ name: "post" }] });
    const answer = { decisions: [{ type: "approve" as const }], decidedBy: "ann" };
    const answers = await Promise.allSettled(
      [1, 2].map(() => client.decide(approval?.approvalId ?? "", answer)),
    );
    expect(answers.map((a) => a.status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await handle.result({ timeoutMs: 5000 })).toMatchObject({ status: "success", output: "posted" });
    expect(await client.listApprovals()).toEqual([]);
    await expect(client.decide(approval?.approvalId ?? "", answer)).rejects.toThrow(/answered before by ann/);
  });

  it("is left as it was by an answer that does not fit", async () => {
    await work({ act: asks });
    const strict = new Client({
      redisUrl: server.url,
      prefix: `q${n}`,
      readAnswer: () => {
        throw new TypeError("does not fit");
      },
    });
    const handle = await client.enqueueRun({ agent: "clerk", input: "x" });
    await handle.result({ timeoutMs: 5000 });
    const [approval] = await client.listApprovals();
    await expect(strict.decide(approval?.approvalId ?? "", { value: 1 })).rejects.toThrow("does not fit");
    expect((await client.approval(approval?.approvalId ?? "")).status).toBe("pending");
    await strict.close();
  });
});
