import { fileURLToPath } from "node:url";
import { isDroverError } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client, type RunHandle, signMessage } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet, type Fleet, type WorkerProcess } from "./testing/processes.js";
import { about, createSender, type Kind, newId, type Sender } from "./testing/sender.js";

const project = fileURLToPath(new URL("../testing/messages/", import.meta.url));

const SECRET = "a-secret-of-the-front-desk";

let server: RedisServer;
let client: Client;
let fleet: Fleet;
let first: WorkerProcess;
let sender: Sender;

beforeAll(async () => {
  server = await startRedis();
  client = new Client({
    redisUrl: server.url,
    prefix: "a",
    readAnswer: (_, answer) => ("value" in answer ? answer.value : answer),
  });
  fleet = createFleet(server.url, "a", project);
  first = await fleet.start({ DROVER_SERVICE_KEYS: `desk=${SECRET}` });
  sender = createSender(server.url, "a");
});
afterAll(async () => {
  await sender.close();
  await client.close();
  await fleet.end();
  await server.stop();
});

const code = (wanted: string) => (error: unknown) => isDroverError(error, wanted as never);
const paid = (amount: number) => fleet.ledger().filter((line) => line.amount === amount).length;
const approve = { decisions: [{ type: "approve" as const }] };

async function asked(
  agent: string,
  tool: string,
  amount: number,
): Promise<{ handle: RunHandle; approvalId: string }> {
  const handle = await client.enqueueRun({
    agent,
    input: JSON.stringify([{ name: tool, args: { amount } }]),
  });
  const run = await handle.result({ timeoutMs: 15_000 });
  expect(run.status).toBe("interrupted");
  return { handle, approvalId: run.approvals[0] ?? "" };
}

/** The same by a message. */
const begin = (tool: string, amount: number) =>
  sender.begin("expiring", JSON.stringify([{ name: tool, args: { amount } }]));
const endOf = async ({ correlationId }: Kind<"run.interrupted">) =>
  (await sender.notice(about(String(correlationId), "run.final"))) as Kind<"run.final">;
const resume = (approvalId: string, decidedBy = "bo") => ({
  v: 1 as const,
  id: newId(),
  type: "run.resume" as const,
  replyTo: sender.replyTo,
  approvalId,
  ...approve,
  decidedBy,
});
const signed = (message: ReturnType<typeof resume>) => signMessage(message, "desk", SECRET);
async function refusal(message: ReturnType<typeof resume>, sent: object = message): Promise<string> {
  await sender.send(sent);
  return ((await sender.notice(about(message.id, "request.refused"))) as Kind<"request.refused">).error.code;
}

describe("an approval whose time is over", () => {
  it("is rejected, approved, or ends its run, as the policy of its tool says; the sender is told", async () => {
    const [rejected, approved, failed] = await Promise.all([
      begin("pay_reject", 1),
      begin("pay_approve", 2),
      begin("pay_fail", 3),
    ]);
    expect((await endOf(rejected)).output).toMatch(/^Nobody decided in time/);
    expect((await endOf(approved)).output).toBe("pay_approve 2");
    expect(await endOf(failed)).toMatchObject({ status: "error", error: { code: "APPROVAL_EXPIRED" } });
    expect([1, 2, 3].map(paid)).toEqual([0, 1, 0]);
    for (const { approvals } of [rejected, approved, failed]) {
      const approvalId = approvals[0]?.approvalId ?? "";
      expect(await client.approvals.get(approvalId)).toMatchObject({
        status: "expired",
        audit: { door: "expiry" },
      });
      expect(await refusal(resume(approvalId))).toBe("APPROVAL_EXPIRED");
    }
    expect(await client.approvals.list()).toEqual([]);
  });

  it("waits until then, and says until when", async () => {
    const { handle, approvalId } = await asked("expiring", "pay_slow", 4);
    const approval = await client.approvals.get(approvalId);
    expect((approval.expiresAt ?? 0) - approval.createdAt).toBe(600_000);
    await client.decide(approvalId, { ...approve, decidedBy: "ada" });
    expect((await handle.result({ timeoutMs: 15_000 })).output).toBe("pay_slow 4");
    expect(await client.approvals.get(approvalId)).toMatchObject({
      status: "answered",
      audit: { door: "client", verified: true },
    });
  });
});

describe("an approval that is passed on", () => {
  it("is then for others, for as long again, and the sender is told of them; after that the policy decides", async () => {
    const [answered, left] = await Promise.all([begin("pay_next", 5), begin("pay_next", 6)]);
    const [first] = answered.approvals;
    expect(first?.assignees).toEqual(["ada"]);
    const again = (await sender.notice(
      (n) => n.type === "run.interrupted" && n.runId === answered.runId && n.id !== answered.id,
    )) as Kind<"run.interrupted">;
    expect(again.approvals).toMatchObject([{ approvalId: first?.approvalId, assignees: ["cfo"] }]);
    expect(again.approvals[0]?.expiresAt).toBeGreaterThan(first?.expiresAt ?? 0);
    const approvalId = first?.approvalId ?? "";
    const late = resume(approvalId, "ada");
    expect(await refusal(late, signed(late))).toBe("NOT_PERMITTED");
    expect((await client.approvals.get(approvalId)).status).toBe("pending");
    await sender.send(signed(resume(approvalId, "cfo")));
    expect((await endOf(answered)).output).toBe("pay_next 5");
    expect((await endOf(left)).output).toMatch(/^Nobody decided in time/);
    expect([5, 6].map(paid)).toEqual([1, 0]);
  });
});

describe("who may answer", () => {
  it("a local operator says who decided, and the policy names that person", async () => {
    const { handle, approvalId } = await asked("guarded", "pay", 11);
    await expect(client.decide(approvalId, approve)).rejects.toThrow(/decidedBy/);
    await expect(client.decide(approvalId, { ...approve, decidedBy: "bo" })).rejects.toSatisfy(
      code("NOT_PERMITTED"),
    );
    expect((await client.approvals.get(approvalId)).status).toBe("pending");
    await client.decide(approvalId, { ...approve, decidedBy: "ada" });
    expect((await handle.result({ timeoutMs: 15_000 })).output).toBe("pay 11");
    const ready = first.logs.find((line) => line.msg === "worker ready");
    const metrics = await (await fetch(`${ready?.url}/metrics`)).text();
    expect(metrics).toMatch(/drover_interrupts_answered_total\{agent="guarded",decision="approve"[^}]*\} 1/);
  });
});

describe("a worker that dies between taking the answer and finishing the step", () => {
  it("is followed by one that goes on with the same answer", async () => {
    const handle = await client.enqueueRun({ agent: "slow", input: { id: "slow" } });
    const run = await handle.result({ timeoutMs: 15_000 });
    await client.decide(run.approvals[0] ?? "", { value: "this one" });
    const taken = () => fleet.ledger().filter((line) => line.run === "slow");
    await expect.poll(() => taken().length, { timeout: 15_000 }).toBe(1);
    await fleet.killAll();
    await fleet.start();
    const ended = await handle.result({ timeoutMs: 20_000, stopAtInterrupt: false });
    expect(ended).toMatchObject({ status: "success", crashes: 1, output: { steps: ["this one"] } });
    expect(taken().map((line) => line.answer)).toEqual(["this one", "this one"]);
  }, 60_000);
});

describe("an agent that changed since it asked", () => {
  it("is not given the answer unless the operator says so; nothing is answered by being refused", async () => {
    const earlier = await asked("payer", "pay", 21);
    const second = await asked("payer", "pay", 22);
    await fleet.killAll();
    const next = await fleet.start({ AGENT_VERSION: "2" });
    await expect.poll(async () => (await client.state.workers.list()).length, { timeout: 15_000 }).toBe(1);
    await expect(client.decide(earlier.approvalId, approve)).rejects.toThrow(/version 1 of 'payer'.*have 2/);
    await client.approvals.decide(earlier.approvalId, approve, { onVersionMismatch: "resume" });
    expect(await earlier.handle.result({ timeoutMs: 15_000 })).toMatchObject({
      status: "success",
      output: "pay 21",
      agentVersion: "2",
    });
    // Where a worker still has the old version, that one goes on, however many have the new one.
    const old = await fleet.start({ AGENT_VERSION: "1" });
    await client.decide(second.approvalId, approve);
    expect(await second.handle.result({ timeoutMs: 15_000 })).toMatchObject({
      status: "success",
      agentVersion: "1",
    });
    expect(
      fleet
        .ledger()
        .filter((line) => line.amount === 22)
        .map((line) => line.pid),
    ).toEqual([old.pid]);
    expect(next.pid).not.toBe(old.pid);
  }, 60_000);
});

describe("a personal datum in a question", () => {
  it("is not in what a reviewer sees, nor kept from what a reviewer types", async () => {
    const handle = await client.enqueueRun({
      agent: "private",
      input: JSON.stringify([{ name: "pay", args: { amount: 31, memo: "for ann@example.com" } }]),
    });
    const run = await handle.result({ timeoutMs: 15_000 });
    const approval = await client.approvals.get(run.approvals[0] ?? "");
    expect(JSON.stringify(approval)).not.toContain("ann@example.com");
  });
});
