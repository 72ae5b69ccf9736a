import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet, type Fleet, type WorkerProcess } from "./testing/processes.js";

let server: RedisServer;
let client: Client;
let fleet: Fleet;
let worker: WorkerProcess;

beforeAll(async () => {
  server = await startRedis();
  client = new Client({
    redisUrl: server.url,
    prefix: "e",
    readAnswer: (_, answer) => ("value" in answer ? answer.value : answer),
  });
  fleet = createFleet(server.url, "e");
  worker = await fleet.start();
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await server.stop();
});

const run = async (agent: string, input: object, over = {}) => {
  const handle = await client.enqueueRun({ agent, input: { ...input }, ...over });
  return handle.result({ timeoutMs: 20_000 });
};

describe("how a run ends", () => {
  it("a graph that never ends: the recursion limit, by name", async () => {
    const ended = await run("endless", { id: "x" });
    expect(ended).toMatchObject({
      status: "error",
      endedBy: "error",
      attempt: 1,
      error: { code: "RECURSION_LIMIT" },
    });
  });

  it("a node that throws: the agent's error, not tried again", async () => {
    expect(await run("broken", { id: "x" })).toMatchObject({
      status: "error",
      attempt: 1,
      error: { code: "AGENT_ERROR", message: expect.stringContaining("this node is broken") },
    });
  });

  it("a promise that a node forgot, and that fails: the run is well, and so is its worker", async () => {
    expect(await run("forgetful", { id: "x" })).toMatchObject({ status: "success", crashes: 0 });
    const told = () => worker.logs.find((line) => String(line.msg).includes("no code waited for"));
    await expect.poll(told).toMatchObject({ level: "error", thrown: "Error" });
    expect(JSON.stringify(told())).not.toContain("nobody waits for this");
    expect(worker.process.exitCode).toBeNull();
  });

  it("a tool that throws in an agent whose events are followed: the run is well, and so is its worker", async () => {
    expect(await run("following", { id: "x" })).toMatchObject({
      status: "success",
      crashes: 0,
      output: { steps: ["it failed"] },
    });
    expect((await run("stepper", { id: "y" })).status).toBe("success");
    expect(worker.process.exitCode).toBeNull();
  });

  it("a deadline that passes while it runs", async () => {
    const started = Date.now();
    const ended = await run("stepper", { id: "x", ms: 10_000 }, { deadlineMs: 300 });
    expect(ended).toMatchObject({ status: "timeout", error: { code: "DEADLINE_EXCEEDED" } });
    expect(Date.now() - started).toBeLessThan(5000);
  });

  it("a tool that is marked once: its result, committed once", async () => {
    const handle = await client.enqueueRun({ agent: "poster", input: JSON.stringify({ id: "once", ms: 1 }) });
    const ended = await handle.result({ timeoutMs: 20_000 });
    expect(ended).toMatchObject({
      status: "success",
      output: "posted: receipt for once",
      usage: { modelCalls: 2, toolCalls: 1 },
    });
  });

  it("what it remembers is known to the tenant's other threads, and to no other tenant", async () => {
    await run("rememberer", { id: "one" });
    expect(await run("rememberer", { id: "two" })).toMatchObject({ output: { steps: ["one"] } });
    const other = new Client({ redisUrl: server.url, prefix: "e", tenant: "other" });
    const handle = await other.enqueueRun({ agent: "rememberer", input: { id: "three" } });
    expect(await handle.result({ timeoutMs: 20_000 })).toMatchObject({ output: { steps: [] } });
    await other.close();
  });

  it("questions of a plain graph, answered one after the other", async () => {
    const handle = await client.enqueueRun({ agent: "asker", input: { id: "q" } });
    for (const [i, question] of ["first?", "second?"].entries()) {
      const waiting = await handle.result({ timeoutMs: 20_000 });
      expect(waiting.status).toBe("interrupted");
      const [approval] = await client.listApprovals();
      expect(approval).toMatchObject({ actions: null, value: { question } });
      await client.decide(approval?.approvalId ?? "", { value: `answer ${i}` });
    }
    const ended = await handle.result({ timeoutMs: 20_000 });
    expect(ended).toMatchObject({
      status: "success",
      output: { steps: ["answer 0", "answer 1"] },
      attempt: 1,
    });
    expect(ended.approvals).toHaveLength(2);
  });
});
