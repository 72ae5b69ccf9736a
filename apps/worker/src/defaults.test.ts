import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { InboxMessage, Notice } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client, signMessage } from "@drover/queue";
import { Queue } from "bullmq";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet, type Fleet, type WorkerProcess } from "./testing/processes.js";
import { createSender, newId, type Sender } from "./testing/sender.js";

const project = fileURLToPath(new URL("../testing/messages/", import.meta.url));
/** A project without the other's agents. */
const elsewhere = fileURLToPath(new URL("../testing/project/", import.meta.url));
const PREFIX = "d";
const SECRET = "a-secret-of-the-acme-service";
const KEYS = { DROVER_SERVICE_KEYS: `acme-service@acme=${SECRET},desk=${SECRET},webhook=${SECRET}` };
const folder = mkdtempSync(join(tmpdir(), "drover-defaults-"));
const policy = join(folder, "fleet.json");

let server: RedisServer;
let client: Client;
let fleet: Fleet;
let worker: WorkerProcess;
let ofAgent: Sender;
let ofBatch: Sender;

beforeAll(async () => {
  writeFileSync(
    policy,
    JSON.stringify({
      defaults: {
        notify: { replyTo: "agent" },
        questions: { expiresMs: 1000, onExpire: { answer: "nobody" }, escalateTo: ["cfo"] },
      },
      ceilings: { signedMessages: ["run.retry"] },
    }),
  );
  server = await startRedis();
  ofAgent = createSender(server.url, PREFIX, "agent");
  ofBatch = createSender(server.url, PREFIX, "batch");
  fleet = createFleet(server.url, PREFIX, project);
  worker = await fleet.start({
    DROVER_POLICY: policy,
    DROVER_RETENTION: "repliesLength=20",
    DROVER_CONCURRENCY: "1",
    ...KEYS,
  });
  client = new Client({ redisUrl: server.url, prefix: PREFIX });
});
afterAll(async () => {
  await Promise.all([ofAgent.close(), ofBatch.close()]);
  await client.close();
  await fleet.end();
  await server.stop();
  rmSync(folder, { recursive: true });
});

const look = JSON.stringify([{ name: "look", args: { amount: 1 } }]);

describe("who is told of a run that names nobody", () => {
  const told = (sender: Sender, runId: string) =>
    sender.notices.filter((notice) => "runId" in notice && notice.runId === runId).map(({ type }) => type);

  it("is whom its batch names, else whom its agent names; a run's own word comes first", async () => {
    const { batchId, notify } = await client.openBatch({ agent: "payer", notify: { replyTo: "batch" } });
    expect(notify).toEqual({ replyTo: "batch" });
    const [alone, inBatch, own] = await client.enqueueMany([
      { agent: "payer", input: look },
      { agent: "payer", input: look, batchId },
      { agent: "payer", input: look, batchId, replyTo: "agent" },
    ]);
    const final =
      (runId = "") =>
      (notice: object) =>
        "runId" in notice && notice.runId === runId && "status" in notice;
    await Promise.all([
      ofAgent.notice(final(alone?.runId)),
      ofBatch.notice(final(inBatch?.runId)),
      ofAgent.notice(final(own?.runId)),
    ]);
    expect(told(ofAgent, alone?.runId ?? "")).toEqual(["request.admitted", "run.final"]);
    expect(told(ofBatch, inBatch?.runId ?? "")).toEqual(["request.admitted", "run.final"]);
    expect(told(ofAgent, inBatch?.runId ?? "")).toEqual([]);
    expect(told(ofBatch, own?.runId ?? "")).toEqual([]);
  });

  it("is whom its request names, while the message's own queue is told that it was admitted", async () => {
    const request = { agent: "payer", input: look, replyTo: "batch" };
    const { runId } = await ofAgent.ask("request.admitted", { type: "run.start", request });
    const isEnd = (notice: Notice) => notice.type === "run.final" && notice.runId === runId;
    await ofBatch.notice(isEnd);
    expect(told(ofAgent, runId)).toEqual(["request.admitted"]);
  });
});

describe("a question that is not about tools", () => {
  it("is passed on and then answered in a person's place, as the fleet's policy says", async () => {
    const handle = await client.enqueueRun({ agent: "nested", input: { id: "n" } });
    const asked = await handle.result({ timeoutMs: 20_000 });
    const approval = await client.approval(asked.approvals[0] ?? "");
    expect(approval).toMatchObject({ actions: null, terms: { escalateTo: ["cfo"], expiresMs: 1000 } });
    const ended = await handle.result({ timeoutMs: 30_000, stopAtInterrupt: false });
    expect(ended).toMatchObject({ status: "success", output: { steps: ["nobody"] } });
    expect(await client.approval(approval.approvalId)).toMatchObject({
      status: "expired",
      answer: { value: "nobody" },
      audit: { door: "expiry" },
    });
  });
});

describe("a reply queue that nobody reads", () => {
  it("keeps the newest notices, and the worker says what went", async () => {
    const connection = { url: server.url };
    const unread = new Queue<Notice>("abandoned", { connection, prefix: `{${PREFIX}-bull}` });
    const ids = Array.from({ length: 30 }, newId);
    for (const id of ids) {
      await ofAgent.send({ v: 1, id, type: "run.cancel", runId: "none", replyTo: "abandoned" });
    }
    const gone = () =>
      worker.logs.reduce((sum, line) => sum + (line.replyTo === "abandoned" ? Number(line.count) : 0), 0);
    await expect.poll(gone, { timeout: 10_000 }).toBe(10);
    expect(await unread.getWaitingCount()).toBe(20);
    expect(await (await fetch(`${worker.url()}/metrics`)).text()).toContain(
      "drover_notices_dropped_total 10",
    );
    await unread.close();
  });
});

describe("a question that waits", () => {
  it("holds no worker: the only slot is free for others", async () => {
    for (const amount of [1, 2, 3]) {
      await ofAgent.begin("payer", JSON.stringify([{ name: "pay", args: { amount } }]));
    }
    const request = { agent: "payer", input: look };
    const ended = await ofAgent.ask("run.final", { type: "run.start", request });
    expect(ended.output).toBe("look 1");
    expect((await client.listApprovals()).filter(({ agent }) => agent === "payer")).toHaveLength(3);
  });
});

describe("a webhook to a private network", () => {
  it("is not posted, whatever a message asks for", async () => {
    let requests = 0;
    const receiver = createServer((_, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const { port } = receiver.address() as AddressInfo;
    const webhook = { url: `http://localhost:${port}/` };
    const request = { agent: "payer", input: look, webhook };
    const { id } = await ofAgent.ask("request.admitted", { type: "run.start", request });
    const connection = { url: server.url };
    const webhooks = new Queue("webhooks", { connection, prefix: `{${PREFIX}-bull}` });
    const reason = async () => (await webhooks.getJob(id))?.failedReason;
    await expect.poll(reason, { timeout: 5000 }).toMatch(/not an address of the public internet/);
    expect(requests).toBe(0);
    receiver.close();
    await webhooks.close();
  });
});

describe("a key of one tenant", () => {
  it("signs nothing in the name of another", async () => {
    const start = (tenant: string) => ({
      v: 1 as const,
      id: newId(),
      type: "run.start" as const,
      tenant,
      replyTo: ofAgent.replyTo,
      request: { agent: "payer", input: look },
    });
    const [theirs, others] = [start("acme"), start("globex")];
    await ofAgent.send(signMessage(theirs, "acme-service", SECRET));
    await ofAgent.send(signMessage(others, "acme-service", SECRET));
    const reply = (id: string) => ofAgent.notice((notice) => notice.correlationId === id);
    expect(await reply(theirs.id)).toMatchObject({ type: "request.admitted" });
    expect(await reply(others.id)).toMatchObject({
      type: "request.refused",
      error: { code: "BAD_SIGNATURE", message: expect.stringContaining("not for tenant 'globex'") },
    });
  });
});

describe("a kind of message that must be signed", () => {
  const send = async (message: Record<string, unknown>, isSigned: boolean): Promise<Notice> => {
    const whole = { v: 1, id: newId(), replyTo: ofAgent.replyTo, ...message } as InboxMessage;
    await ofAgent.send(isSigned ? signMessage(whole, "desk", SECRET) : whole);
    return ofAgent.notice(
      ({ correlationId, type }) => correlationId === whole.id && type.startsWith("request."),
    );
  };
  const unsigned = (type: string, agent: string) => ({
    type: "request.refused",
    error: { code: "BAD_SIGNATURE", message: expect.stringContaining(`a ${type} for '${agent}' needs`) },
  });
  const input = JSON.stringify([{ name: "pay", args: { amount: 7 } }]);
  const start = (agent: string, over: object = {}) => ({
    type: "run.start",
    request: { agent, input, ...over },
  });
  const admitted = { type: "request.admitted" };
  const statusOf = async (runId: string) => (await (await client.run(runId)).status()).status;

  it("is refused without a signature for the agents that say so, and for all where the fleet says so", async () => {
    expect(await send(start("signing"), false)).toMatchObject(unsigned("run.start", "signing"));
    const threadId = newId();
    const asked = await send(start("signing", { threadId }), true);
    const { runId } = asked as Extract<Notice, { type: "request.admitted" }>;
    await expect.poll(() => statusOf(runId), { timeout: 10_000 }).toBe("interrupted");
    const [approval] = await client.approvals.ofRun(runId);
    const approve = {
      type: "run.resume",
      approvalId: approval?.approvalId,
      decisions: [{ type: "approve" }],
    };
    expect(await send(approve, false)).toMatchObject(unsigned("run.resume", "signing"));
    const cancel = { type: "run.cancel", runId };
    expect(await send(cancel, false)).toMatchObject(unsigned("run.cancel", "signing"));
    const instead = start("payer", { threadId, multitaskStrategy: "interrupt" });
    expect(await send(instead, false)).toMatchObject(unsigned("run.cancel", "signing"));
    expect(await statusOf(runId)).toBe("interrupted");
    expect(await send(cancel, true)).toMatchObject(admitted);

    const other = await send(start("payer"), false);
    const { runId: payers } = other as Extract<Notice, { type: "request.admitted" }>;
    expect(await send({ type: "run.cancel", runId: payers }, false)).toMatchObject(admitted);
    const retry = { type: "run.retry", runId: payers };
    expect(await send(retry, false)).toMatchObject(unsigned("run.retry", "payer"));
    expect(await send(retry, true)).toMatchObject(admitted);
  });

  it("is refused by a worker that does not have the agent, too", async () => {
    const asked = await send(start("signing"), true);
    const { runId } = asked as Extract<Notice, { type: "request.admitted" }>;
    await expect.poll(() => statusOf(runId), { timeout: 10_000 }).toBe("interrupted");
    await fleet.killAll();
    await fleet.start({ ...KEYS, DROVER_ROOT: elsewhere });
    const cancel = { type: "run.cancel", runId };
    expect(await send(cancel, false)).toMatchObject(unsigned("run.cancel", "signing"));
    expect(await send(cancel, true)).toMatchObject(admitted);
    expect(await statusOf(runId)).toBe("cancelled");
  });
});
