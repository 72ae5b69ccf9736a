import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client, signMessage } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everythingIn } from "./testing/everything.js";
import { createFleet, type Fleet } from "./testing/processes.js";
import { about, createSender, type Kind, newId, type Sender } from "./testing/sender.js";

const PREFIX = "m";
const SECRET = "a-secret-of-the-audit-service";
const project = fileURLToPath(new URL("../testing/messages/", import.meta.url));

let server: RedisServer;
let client: Client;
let fleet: Fleet;
let sender: Sender;

beforeAll(async () => {
  server = await startRedis();
  client = new Client({ redisUrl: server.url, prefix: PREFIX, readAnswer: (_, answer) => answer });
  sender = createSender(server.url, PREFIX);
  fleet = createFleet(server.url, PREFIX, project);
  await Promise.all([start(), start()]);
});
afterAll(async () => {
  await sender.close();
  await client.close();
  await fleet.end();
  await server.stop();
});

const start = () => fleet.start({ DROVER_SERVICE_KEYS: `audit=${SECRET}` });
const pay = (...calls: [string, number][]) =>
  JSON.stringify(calls.map(([name, amount]) => ({ name, args: { amount } })));
const paid = (amount: number) => fleet.ledger().filter((line) => line.amount === amount).length;

const ask: Sender["ask"] = (type, message) => sender.ask(type, message);
const begin: Sender["begin"] = (agent, input, over) => sender.begin(agent, input, over);

describe("run.start", () => {
  it("is admitted, and its end is told with the output", async () => {
    const id = newId();
    const input = pay(["look", 1]);
    const admitted = await ask("request.admitted", {
      id,
      type: "run.start",
      request: { agent: "payer", input },
    });
    const final = (await sender.notice(about(id, "run.final"))) as Kind<"run.final">;
    expect(admitted).toMatchObject({ v: 1, request: "run.start", agent: "payer", behind: null });
    expect(final).toMatchObject({
      runId: admitted.runId,
      status: "success",
      endedBy: "completed",
      output: "look 1",
      outputOmitted: false,
    });
  });

  it("twice under one id is one run, and both are told the same", async () => {
    const id = newId();
    const message = { id, type: "run.start", request: { agent: "payer", input: pay(["look", 2]) } };
    const first = await ask("run.final", message);
    const count = sender.notices.length;
    await ask("request.admitted", message);
    await expect.poll(() => sender.notices.length).toBeGreaterThanOrEqual(count);
    expect(new Set(sender.notices.filter((n) => n.correlationId === id).map((n) => n.id)).size).toBe(2);
    expect(paid(2)).toBe(1);
    expect((await client.listRuns({ limit: 100 })).filter((run) => run.runId === first.runId)).toHaveLength(
      1,
    );
  });

  it("under a known id with another request is refused", async () => {
    const id = newId();
    await ask("request.admitted", {
      id,
      type: "run.start",
      request: { agent: "payer", input: pay(["look", 3]) },
    });
    const refused = await ask("request.refused", {
      id,
      type: "run.start",
      request: { agent: "payer", input: pay(["look", 4]) },
    });
    expect(refused.error.code).toBe("IDEMPOTENCY_CONFLICT");
  });

  it("behind a question waits, and says so", async () => {
    const threadId = newId();
    const asked = await begin("payer", pay(["pay", 5]), {
      request: { agent: "payer", input: pay(["pay", 5]), threadId },
    });
    const behind = await ask("request.admitted", {
      type: "run.start",
      request: { agent: "payer", input: pay(["look", 6]), threadId },
    });
    expect(behind.behind).toBe(asked.runId);
    const busy = await ask("request.refused", {
      type: "run.start",
      request: { agent: "payer", input: "x", threadId, multitaskStrategy: "reject" },
    });
    expect(busy.error.code).toBe("THREAD_BUSY");
    const replacing = newId();
    await ask("run.final", {
      id: replacing,
      type: "run.start",
      request: { agent: "payer", input: pay(["look", 7]), threadId, multitaskStrategy: "interrupt" },
    });
    expect(paid(5)).toBe(0);
    const [approval] = asked.approvals;
    const late = await ask("request.refused", {
      type: "run.resume",
      approvalId: approval?.approvalId,
      decisions: [{ type: "approve" }],
    });
    expect(late.error.code).toBe("ILLEGAL_TRANSITION");
  });
});

describe("what is no message", () => {
  it("is kept as a dead letter with its reason, and told where replyTo can be read", async () => {
    const bad = [
      [{ type: "run.begin" }, /type/],
      [{ type: "run.start", request: { agent: "payer" } }, /request\.input/],
      [{ type: "run.start", request: { agent: "payer", input: "x", tenant: "other" } }, /tenant/],
      [{ type: "run.resume", approvalId: "a" }, /decisions/],
      [{ type: "run.resume", decisions: [{ type: "approve" }] }, /approvalId/],
      [{ type: "run.cancel" }, /runId/],
      [{ v: 2, type: "run.cancel", runId: "x" }, /v:/],
    ] as const;
    for (const [message, reason] of bad) {
      const refused = await ask("request.refused", { v: 1, ...message });
      expect(refused.error).toMatchObject({
        code: "INVALID_MESSAGE",
        message: expect.stringMatching(reason),
      });
    }
    const letters = await client.state.deadLetters.list("default", 10);
    expect(letters.map((letter) => JSON.parse(letter.body).type)).toContain("run.begin");
    expect(letters[0]?.reason.code).toBe("INVALID_MESSAGE");
  });

  it("of any shape harms nobody, and without replyTo it is kept", async () => {
    const before = (await client.state.deadLetters.list("default", 1000)).length;
    for (const body of [{}, { v: 1, replyTo: "runs" }, { signed: 5 }]) await sender.send(body);
    await expect
      .poll(async () => (await client.state.deadLetters.list("default", 1000)).length)
      .toBe(before + 3);
  });

  it("has what rules take out taken out of it, and leaves nothing raw in Redis", async () => {
    const id = newId();
    await ask("request.refused", {
      id,
      type: "run.start",
      request: { agent: "private", text: "to ann@example.com" },
    });
    const [letter] = await client.state.deadLetters.list("default", 1);
    expect(JSON.parse(letter?.body ?? "")).toMatchObject({ request: { agent: "private" } });
    // The message itself goes right after its refusal was told.
    await expect.poll(() => everythingIn(client.state.redis)).not.toContain("ann@example.com");
  });

  it("names an unknown agent or run", async () => {
    const start = await ask("request.refused", {
      type: "run.start",
      request: { agent: "nobody", input: "x" },
    });
    const cancel = await ask("request.refused", { type: "run.cancel", runId: "none" });
    const resume = await ask("request.refused", { type: "run.resume", approvalId: "none", value: 1 });
    expect([start, cancel, resume].map((n) => n.error.code)).toEqual([
      "UNKNOWN_AGENT",
      "UNKNOWN_RUN",
      "UNKNOWN_APPROVAL",
    ]);
  });
});

describe("run.resume", () => {
  it("gives the question with everything about it, and each call its own outcome", async () => {
    const asked = await begin("payer", pay(["pay", 21], ["pay", 22], ["pay", 23], ["pay", 24], ["look", 25]));
    const [approval] = asked.approvals;
    expect(approval).toMatchObject({ assignees: null, expiresAt: null });
    expect(approval?.actions?.map(({ name, args }) => [name, args.amount])).toEqual([
      ["pay", 21],
      ["pay", 22],
      ["pay", 23],
      ["pay", 24],
    ]);
    const final = await ask("run.final", {
      id: asked.correlationId,
      type: "run.resume",
      approvalId: approval?.approvalId,
      decisions: [
        { type: "approve" },
        { type: "edit", editedAction: { name: "pay", args: { amount: 220 } } },
        { type: "reject", message: "no budget" },
        { type: "respond", message: "paid by hand" },
      ],
      decidedBy: "ada",
      comment: "checked",
    });
    expect(String(final.output).split(" | ").sort()).toEqual(
      ["pay 21", "pay 220", "no budget", "paid by hand", "look 25"].sort(),
    );
    expect([21, 22, 220, 23, 24, 25].map(paid)).toEqual([1, 0, 1, 0, 0, 1]);
    const [kept] = await client.approvals.ofRun(asked.runId);
    expect(kept).toMatchObject({
      status: "answered",
      answer: { decidedBy: "ada", comment: "checked" },
      audit: { door: "message", service: null, verified: false, messageId: asked.correlationId },
    });
  });

  it("that does not fit changes nothing; each reason is told; then the right one counts once", async () => {
    const asked = await begin("payer", pay(["pay", 31], ["pay", 32]));
    const approvalId = asked.approvals[0]?.approvalId;
    const approve = { type: "approve" };
    const edit = (name: string, args: object) => ({ type: "edit", editedAction: { name, args } });
    const wrong = [
      [{ decisions: [approve] }, "DECISION_COUNT", /has 1 decisions/],
      [{ decisions: [approve, { type: "reject" }, approve] }, "DECISION_COUNT", /has 3/],
      [{ value: "yes" }, "INVALID_DECISION", /decisions/],
      [{ decisions: [approve, edit("pay", { amount: "x" })] }, "INVALID_DECISION", /amount/],
      [{ decisions: [approve, edit("steal", {})] }, "INVALID_DECISION", /steal/],
    ] as const;
    for (const [answer, code, reason] of wrong) {
      const refused = await ask("request.refused", { type: "run.resume", approvalId, ...answer });
      expect(refused.error).toMatchObject({ code, message: expect.stringMatching(reason) });
    }
    expect((await client.approvals.get(approvalId ?? "")).status).toBe("pending");
    const id = newId();
    const right = { id, type: "run.resume", approvalId, decisions: [approve, approve], decidedBy: "ada" };
    const admitted = await ask("request.admitted", right);
    await sender.notice(about(String(asked.correlationId), "run.final"));
    expect(await ask("request.admitted", right)).toEqual(admitted);
    const second = await ask("request.refused", { ...right, id: newId(), decidedBy: "bo" });
    expect(second.error).toMatchObject({
      code: "APPROVAL_ANSWERED",
      message: expect.stringContaining("by ada"),
    });
    expect([paid(31), paid(32)]).toEqual([1, 1]);
  });

  it("of a question in a subgraph goes there", async () => {
    const nested = await begin("nested", { id: "n" });
    await ask("request.admitted", {
      type: "run.resume",
      approvalId: nested.approvals[0]?.approvalId,
      value: "deep",
    });
    const deep = (await sender.notice(about(String(nested.correlationId), "run.final"))) as Kind<"run.final">;
    expect(deep).toMatchObject({ output: { steps: ["deep"] } });
  });

  it("is taken only from those whom the policy names, when a signature vouches for it", async () => {
    const asked = await begin("guarded", pay(["pay", 41]));
    expect(asked.approvals[0]?.assignees).toEqual(["ada", "audit"]);
    const message = (over: object = {}) => ({
      v: 1 as const,
      id: newId(),
      type: "run.resume" as const,
      replyTo: sender.replyTo,
      approvalId: asked.approvals[0]?.approvalId ?? "",
      decisions: [{ type: "approve" as const }],
      decidedBy: "ada",
      ...over,
    });
    const refusedFor = async (sent: { id: string }, body: object = sent) => {
      await sender.send(body);
      return ((await sender.notice(about(sent.id, "request.refused"))) as Kind<"request.refused">).error.code;
    };
    const unsigned = message();
    expect(await refusedFor(unsigned)).toBe("NOT_PERMITTED");
    const forged = message();
    expect(await refusedFor(forged, signMessage(forged, "audit", "another-secret-than-that"))).toBe(
      "BAD_SIGNATURE",
    );
    const old = message();
    expect(await refusedFor(old, signMessage(old, "audit", SECRET, 1_600_000_000))).toBe("BAD_SIGNATURE");
    const changed = message({ decidedBy: "mallory" });
    const tampered = { ...signMessage(message(), "audit", SECRET), signed: JSON.stringify(changed) };
    expect(await refusedFor(changed, tampered)).toBe("BAD_SIGNATURE");
    expect(paid(41)).toBe(0);
    await sender.send(signMessage(message(), "audit", SECRET));
    await sender.notice(about(String(asked.correlationId), "run.final"));
    expect(paid(41)).toBe(1);
    const [kept] = await client.approvals.ofRun(asked.runId);
    expect(kept?.audit).toMatchObject({ service: "audit", verified: true });
  });
});

describe("run.cancel and run.retry", () => {
  it("end a question, try again what failed, each once for one id", async () => {
    const asked = await begin("payer", pay(["pay", 51]));
    const cancel = { id: newId(), type: "run.cancel", runId: asked.runId, reason: "not needed" };
    await ask("request.admitted", cancel);
    const ended = (await sender.notice(about(String(asked.correlationId), "run.final"))) as Kind<"run.final">;
    expect(ended).toMatchObject({ status: "cancelled", error: { code: "CANCELLED", message: "not needed" } });
    expect(await ask("request.admitted", cancel)).toMatchObject({ correlationId: cancel.id });
    const again = await ask("request.refused", { type: "run.cancel", runId: asked.runId });
    expect(again.error.code).toBe("ILLEGAL_TRANSITION");

    const failed = await ask("run.final", {
      type: "run.start",
      request: { agent: "failing", input: { id: newId() } },
    });
    expect(failed.status).toBe("error");
    const retry = { id: newId(), type: "run.retry", runId: failed.runId };
    await ask("request.admitted", retry);
    await sender.send({ v: 1, replyTo: sender.replyTo, ...retry });
    const done = (await sender.notice(
      (n) => n.type === "run.final" && n.runId === failed.runId && n.status === "success",
    )) as Kind<"run.final">;
    expect(done.output).toMatchObject({ steps: ["done"] });
  });
});

describe("workers that die", () => {
  it("all of them, while questions wait: every answer that came meanwhile counts once", async () => {
    const asked = await Promise.all([61, 62, 63, 64].map((n) => begin("payer", pay(["pay", n]))));
    await fleet.killAll();
    for (const { approvals } of asked) {
      const message = { v: 1, id: newId(), type: "run.resume", approvalId: approvals[0]?.approvalId };
      for (let i = 0; i < 2; i += 1) await sender.send({ ...message, decisions: [{ type: "approve" }] });
    }
    await Promise.all([start(), start()]);
    for (const { correlationId } of asked) {
      expect(await sender.notice(about(String(correlationId), "run.final"))).toMatchObject({
        status: "success",
      });
    }
    expect([61, 62, 63, 64].map(paid)).toEqual([1, 1, 1, 1]);
  }, 60_000);
});
