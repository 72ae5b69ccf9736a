import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { resumeValue, validateAnswer } from "@drover/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet, type Fleet } from "../../apps/worker/src/testing/processes.js";
import { type ProviderServer, startProviderServer } from "../../libs/runtime/src/testing/index.js";

/** The agent as it works in production: enqueued, executed by a separate worker, over a real Redis and over HTTP. */
let redis: RedisServer;
let provider: ProviderServer;
let client: Client;
let fleet: Fleet;

beforeAll(async () => {
  redis = await startRedis();
  provider = await startProviderServer({ script: [] });
  client = new Client({
    redisUrl: redis.url,
    prefix: "ap",
    readAnswer: (approval, answer) => resumeValue(approval, validateAnswer(approval, answer)),
  });
  fleet = createFleet(redis.url, "ap", fileURLToPath(new URL(".", import.meta.url)));
  await fleet.start({
    ...provider.env,
    DROVER_AP_MODEL: "openai:gpt-5.4-mini",
    DROVER_AP_FALLBACK: "anthropic:claude-sonnet-4-6",
    DROVER_AP_FLAKY: "1",
  });
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await provider.close();
  await redis.stop();
});

const context = { userId: "u-17", company: "PT Contoh", closedUntil: { $date: "2026-08-31T00:00:00Z" } };
const enqueue = (input: string, threadId?: string) =>
  client.enqueueRun({ agent: "accounts-payable", input, context, ...(threadId ? { threadId } : {}) });
const ask = async (input: string, threadId?: string) =>
  (await enqueue(input, threadId)).result({ timeoutMs: 20_000 });

const entry = (amount: number, date = "2026-09-15") => ({
  posting_date: date,
  description: "freight",
  lines: [
    { account: "6100", debit: amount, credit: 0 },
    { account: "2100", debit: 0, credit: amount },
  ],
});
const post = (amount: number, date?: string) => ({
  toolCalls: [{ name: "post_journal_entry", args: entry(amount, date) }],
});
const sent = (i: number) =>
  provider.requests
    .at(i)
    ?.messages.map(({ text }) => text)
    .join("\n") ?? "";

describe("what a run of the accounts-payable agent does", () => {
  it("redacts e-mail addresses in what tools find, masks identity numbers, and posts", async () => {
    provider.use([
      { toolCalls: [{ name: "search_vendor", args: { text: "V-77" } }] },
      post(12_000_000),
      { text: "Posted." },
    ]);
    const run = await ask("I am 3173012345678902, mail me@pt.example: post INV-1001");
    expect(run).toMatchObject({ status: "success", output: "Posted.", endedBy: "completed" });
    expect(sent(0)).toMatch(/\*+8902, mail \[REDACTED_EMAIL\]/);
    expect(sent(1)).toContain("[REDACTED_EMAIL]");
    expect(sent(1)).not.toContain("penagihan@");
  });

  it("does not let a card's number in", async () => {
    const before = provider.requests.length;
    const run = await ask("My card is 4111 1111 1111 1111");
    expect(run).toMatchObject({ status: "error", error: { code: "PII_BLOCKED" } });
    expect(JSON.stringify(run)).not.toContain("4111 1111");
    expect(provider.requests).toHaveLength(before);
  });

  it("refuses a date in a closed period before anybody is asked", async () => {
    provider.use([post(90_000_000, "2026-08-15"), { text: "Which date?" }]);
    expect(await ask("post")).toMatchObject({ status: "success", output: "Which date?" });
    expect(sent(-1)).toContain("falls in a closed period (closed until 2026-08-31)");
  });

  it("asks finance about a large entry, and posts what finance made of it", async () => {
    provider.use([post(90_000_000), { text: "Done." }]);
    const handle = await enqueue("post");
    expect((await handle.result({ timeoutMs: 20_000 })).status).toBe("interrupted");
    const [approval] = await client.listApprovals();
    expect(approval?.actions?.[0]?.description).toBe(
      "Journal entry awaiting finance approval: freight, 90000000 IDR on 2026-09-15.",
    );
    const decision = { type: "edit", editedAction: { name: "post_journal_entry", args: entry(60_000_000) } };
    await client.decide(approval?.approvalId ?? "", { decisions: [decision] } as never);
    expect(await handle.result({ timeoutMs: 20_000 })).toMatchObject({ status: "success", output: "Done." });
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("60000000");
  });

  it("posts once in a run: a second posting fails it, by name", async () => {
    provider.use([post(1_000_000), post(2_000_000), { text: "never" }]);
    expect(await ask("post twice")).toMatchObject({
      status: "error",
      endedBy: "tool_call_limit",
      error: { code: "TOOL_CALL_LIMIT", message: expect.stringContaining("post_journal_entry") },
    });
  });

  it("three times in a conversation, whatever its runs", async () => {
    for (let i = 1; i <= 3; i += 1) {
      provider.use([post(i * 1000), { text: `entry ${i}` }]);
      expect(await ask("post", "conversation")).toMatchObject({ output: `entry ${i}` });
    }
    provider.use([post(4000), { text: "never" }]);
    expect(await ask("post", "conversation")).toMatchObject({ error: { code: "TOOL_CALL_LIMIT" } });
  });

  it("tries the rates again, and nothing else", async () => {
    provider.use([
      { toolCalls: [{ name: "lookup_exchange_rate", args: { currency: "USD" } }] },
      { text: "16400" },
    ]);
    expect(await ask("rate?")).toMatchObject({ output: "16400", usage: { toolCalls: 2 } });
  });

  it("asks each model three times, then the next", async () => {
    provider.use((request) =>
      request.api === "anthropic-messages" ? { text: "by Claude" } : { status: 503 },
    );
    const before = provider.requests.length;
    expect(await ask("hello")).toMatchObject({ status: "success", output: "by Claude" });
    expect(provider.requests.slice(before).map(({ api }) => api.split("-")[0])).toEqual([
      "openai",
      "openai",
      "openai",
      "anthropic",
    ]);
  });

  it("ends after twelve model calls", async () => {
    provider.use(() => ({ toolCalls: [{ name: "lookup_invoice", args: { invoice: "INV-1001" } }] }));
    const before = provider.requests.length;
    expect(await ask("loop")).toMatchObject({ status: "success", endedBy: "model_call_limit" });
    expect(provider.requests.length - before).toBe(12);
  });
});
