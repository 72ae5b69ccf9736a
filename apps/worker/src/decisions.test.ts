/**
 * What decisions and resuming do where behaviours meet: by messages on the inbox, with workers of their own. In the
 * order of the cases; each says what a user must get.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";
import { about, createSender, type Kind, newId, type Sender } from "./testing/sender.js";

const project = fileURLToPath(new URL("../testing/decisions/", import.meta.url));
const PREFIX = "q";

let server: RedisServer;
let client: Client;
let fleet: Fleet;
let sender: Sender;

beforeAll(async () => {
  server = await startRedis();
  client = new Client({ redisUrl: server.url, prefix: PREFIX });
  sender = createSender(server.url, PREFIX);
  fleet = createFleet(server.url, PREFIX, project);
  await Promise.all([fleet.start(), fleet.start()]);
});
afterAll(async () => {
  await sender.close();
  await client.close();
  await fleet.end();
  await server.stop();
});

type Asked = Kind<"run.interrupted">;

const approve = { type: "approve" };
const reject = { type: "reject", message: "no" };
const pay = (...amounts: number[]) =>
  JSON.stringify(amounts.map((amount) => ({ name: "pay", args: { amount } })));
const lines = (fits: object) =>
  fleet.ledger().filter((line) => Object.entries(fits).every(([name, value]) => line[name] === value));
const paid = (amount: number) => lines({ amount }).length;

const resume = (type: "request.admitted" | "request.refused", answer: Record<string, unknown>) =>
  sender.ask(type, { type: "run.resume", ...answer });
const refusal = async (answer: Record<string, unknown>) =>
  ((await resume("request.refused", answer)) as Kind<"request.refused">).error.code;
const decide = (asked: Asked, ...decisions: object[]) =>
  resume("request.admitted", { approvalId: asked.approvals[0]?.approvalId, decisions });
const answer = (asked: Asked, value: unknown, i = 0) =>
  resume("request.admitted", { approvalId: asked.approvals[i]?.approvalId, value });
const endOf = async ({ correlationId }: Asked) =>
  (await sender.notice(about(String(correlationId), "run.final"))) as Kind<"run.final">;
const nextOf = async ({ id, runId }: Asked) =>
  (await sender.notice(
    (notice) => notice.type === "run.interrupted" && notice.runId === runId && notice.id !== id,
  )) as Asked;
const statuses = async (runId: string) =>
  (await client.approvals.ofRun(runId)).map(({ status }) => status).sort();

describe("limits and questions", () => {
  it("a call that a limit blocks is never offered", async () => {
    const asked = await sender.begin("limited", pay(11, 12));
    expect(asked.approvals[0]?.actions?.map(({ args }) => args.amount)).toEqual([11]);
    await decide(asked, approve);
    expect((await endOf(asked)).output).toMatch(/Tool call limit exceeded.*paid 11/);
    expect([paid(11), paid(12)]).toEqual([1, 0]);
  });

  it("the limit holds whatever reviewers answer", async () => {
    const asked = await sender.begin("insisting", "endless");
    await decide(asked, reject);
    await decide(await nextOf(asked), reject);
    expect(await endOf(asked)).toMatchObject({ status: "success", endedBy: "model_call_limit" });
    expect(lines({ asks: "endless" }).map(({ turn }) => turn)).toEqual([1, 2]);
  });

  it("a caller can't loosen them: reserved keys are refused", async () => {
    const wrong = [
      { context: { interruptOn: {} } },
      { context: { threadLimit: 99 } },
      { context: { applyToInput: false } },
      { input: { messages: [], threadModelCallCount: -100 } },
    ];
    for (const over of wrong) {
      const request = { agent: "payer", input: pay(13), ...over };
      const refused = await sender.ask("request.refused", { type: "run.start", request });
      expect(refused.error.code).toBe("RESERVED_KEY");
    }
  });
});

describe("an answer", () => {
  it("that does not fit is refused before anything is stored, and the question stays", async () => {
    const asked = await sender.begin("payer", pay(21, 22));
    const { approvalId } = asked.approvals[0] ?? {};
    expect(await refusal({ approvalId, decisions: [approve] })).toBe("DECISION_COUNT");
    expect(await refusal({ approvalId, decisions: [approve, { type: "maybe" }] })).toBe("INVALID_MESSAGE");
    const respond = { type: "respond", message: "paid by hand" };
    expect(await refusal({ approvalId, decisions: [approve, respond] })).toBe("DECISION_NOT_ALLOWED");
    expect(await statuses(asked.runId)).toEqual(["pending"]);
    await decide(asked, approve, reject);
    expect((await endOf(asked)).output).toBe("no | paid 21");
    expect([paid(21), paid(22)]).toEqual([1, 0]);
  });

  it("counts once: a second one does nothing to the next question, and its sender is told", async () => {
    const first = await sender.begin("insisting", "once");
    const { approvalId } = first.approvals[0] ?? {};
    await decide(first, approve);
    const second = await nextOf(first);
    expect(await refusal({ approvalId, decisions: [approve] })).toBe("APPROVAL_ANSWERED");
    expect(await statuses(first.runId)).toEqual(["answered", "pending"]);
    await decide(second, reject);
    await endOf(first);
    expect(paid(2)).toBe(0);
  });

  it("of many at the same time on two workers is one: the tool runs once", async () => {
    const asked = await sender.begin("payer", pay(23));
    const ids = Array.from({ length: 8 }, newId);
    await Promise.all(
      ids.map((id) =>
        sender.send({
          v: 1,
          id,
          type: "run.resume",
          replyTo: sender.replyTo,
          approvalId: asked.approvals[0]?.approvalId,
          decisions: [approve],
        }),
      ),
    );
    const replies = await Promise.all(
      ids.map((id) => sender.notice((n) => n.correlationId === id && n.type.startsWith("request."))),
    );
    expect(replies.filter(({ type }) => type === "request.admitted")).toHaveLength(1);
    expect((await endOf(asked)).status).toBe("success");
    expect(paid(23)).toBe(1);
  });

  it("is by id where several questions wait; one that names none, or an unknown or used one, is refused", async () => {
    const asked = await sender.begin("parallel", { id: "p" });
    const { runId, approvals } = asked;
    expect(approvals).toHaveLength(2);
    expect(await refusal({ runId, value: "all" })).toBe("INVALID_MESSAGE");
    expect(await refusal({ runId, interruptId: "none", value: "x" })).toBe("UNKNOWN_APPROVAL");
    expect(await refusal({ approvalId: "none", value: "x" })).toBe("UNKNOWN_APPROVAL");
    expect(await statuses(runId)).toEqual(["pending", "pending"]);
    await answer(asked, "one", 0);
    expect(await refusal({ runId, interruptId: approvals[0]?.interruptId, value: "again" })).toBe(
      "APPROVAL_ANSWERED",
    );
    expect(await statuses(runId)).toEqual(["answered", "pending"]);
    expect((await (await client.run(runId)).status()).status).toBe("interrupted");
    await resume("request.admitted", { runId, interruptId: approvals[1]?.interruptId, value: "two" });
    const { output } = await endOf(asked);
    expect((output as { steps: string[] }).steps.sort()).toEqual(["one", "two"]);
  });

  it("of another tenant knows neither question nor run", async () => {
    const asked = await sender.begin("payer", pay(24));
    const { approvalId } = asked.approvals[0] ?? {};
    const tenant = "globex";
    expect(await refusal({ tenant, approvalId, decisions: [approve] })).toBe("UNKNOWN_APPROVAL");
    for (const type of ["run.cancel", "run.retry"]) {
      const refused = await sender.ask("request.refused", { type, tenant, runId: asked.runId });
      expect(refused.error.code).toBe("UNKNOWN_RUN");
    }
    expect(await statuses(asked.runId)).toEqual(["pending"]);
  });

  it("to the first of two questions in a node leaves the second to be answered", async () => {
    const first = await sender.begin("twice", { id: "t" });
    await answer(first, 1);
    const second = await nextOf(first);
    expect(second.approvals[0]?.value).toEqual({ question: "second?" });
    expect(await statuses(first.runId)).toEqual(["answered", "pending"]);
    await answer(second, 2);
    expect((await endOf(first)).output).toMatchObject({ steps: [1, 2] });
  });
});

describe("a question", () => {
  it("can't be jumped over: no path to a gated tool without approval", async () => {
    const asked = await sender.begin("jumping", pay(31));
    expect(paid(31)).toBe(0);
    await decide(asked, reject);
    expect((await endOf(asked)).output).toBe("no");
    expect(paid(31)).toBe(0);
  });

  it.each(["ask", "delegate"])("of a tool under retries is one question (%s)", async (name) => {
    const threadId = newId();
    const input = JSON.stringify([{ name, args: {} }]);
    const asked = await sender.begin("asking", input, {
      request: { agent: "asking", input, threadId },
    });
    expect(asked.approvals).toHaveLength(1);
    expect(lines({ asker: name, thread: threadId })).toHaveLength(1);
    await answer(asked, "yes");
    expect((await endOf(asked)).output).toBe("yes");
    expect(lines({ asker: name, thread: threadId })).toHaveLength(2);
  });

  it("inside of a model's retries and fallback passes through them", async () => {
    const input = pay(32);
    const asked = await sender.begin("careful", input);
    expect(asked.approvals).toHaveLength(1);
    expect(lines({ before: input })).toHaveLength(1);
    await answer(asked, "yes");
    expect((await endOf(asked)).output).toBe("paid 32");
    expect(lines({ asks: input })).toEqual([]);
  });
});

it.each([[[]], [["aprove"]]])(
  "decisions %j, which nobody could give, keep a worker from starting",
  async (decisions) => {
    await expect(fleet.start({ DECISIONS: JSON.stringify(decisions) })).rejects.toThrow(
      /INVALID_POLICY.*approvals\.pay\.decisions/,
    );
  },
);

it("after a cancel nothing more is called: no retry, no fallback", async () => {
  const { runId } = await sender.ask("request.admitted", {
    type: "run.start",
    request: { agent: "failing", input: "stop me" },
  });
  await expect.poll(() => lines({ calls: "stop me" }).length, { timeout: 10_000 }).toBe(1);
  await sender.ask("request.admitted", { type: "run.cancel", runId });
  const ended = (notice: { type: string }) =>
    notice.type === "run.final" && "runId" in notice && notice.runId === runId;
  expect(await sender.notice(ended)).toMatchObject({ status: "cancelled" });
  const calls = lines({ calls: "stop me" }).length;
  await sleep(700);
  expect(lines({ calls: "stop me" })).toHaveLength(calls);
  expect(lines({ asks: "stop me" })).toEqual([]);
});

describe("an agent that changed since it asked", () => {
  it("is not given the answer unless the sender says so", async () => {
    const asked = await sender.begin("payer", pay(41));
    await fleet.killAll();
    await fleet.start({ AGENT_VERSION: "2" });
    await expect.poll(async () => (await client.state.workers.list()).length, { timeout: 15_000 }).toBe(1);
    const decided = { approvalId: asked.approvals[0]?.approvalId, decisions: [approve] };
    expect(await refusal(decided)).toBe("VERSION_MISMATCH");
    expect(await statuses(asked.runId)).toEqual(["pending"]);
    await resume("request.admitted", { ...decided, onVersionMismatch: "resume" });
    expect((await endOf(asked)).output).toBe("paid 41");
    expect(paid(41)).toBe(1);
  });
});
