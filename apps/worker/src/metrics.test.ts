/** Known scenarios on real workers: what /metrics says is what the provider and the tools saw. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { resumeValue, validateAnswer } from "@drover/runtime";
import { FLEET_GAUGES } from "@drover/telemetry";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProviderServer, startProviderServer } from "../../../libs/runtime/src/testing/index.js";
import { createFleet, type Fleet, type WorkerProcess } from "./testing/processes.js";
import { exports, type Scrape, scrape, sumOf } from "./testing/scrape.js";

const project = fileURLToPath(new URL("../testing/features/", import.meta.url));
let redis: RedisServer;
let provider: ProviderServer;
let fleet: Fleet;
let client: Client;
let workers: WorkerProcess[];

const urlOf = (worker: WorkerProcess) =>
  String(worker.logs.find((line) => line.msg === "worker ready")?.url ?? "");
const scrapes = (): Promise<Scrape[]> => Promise.all(workers.map((worker) => scrape(urlOf(worker))));

/** Waits until both workers together say so. */
async function until(holds: (all: Scrape[]) => boolean): Promise<Scrape[]> {
  for (let tries = 0; tries < 600; tries += 1) {
    const all = await scrapes();
    if (holds(all)) return all;
    await sleep(100);
  }
  throw new Error(
    `it never held: ${JSON.stringify(await scrapes().then((all) => all.map((one) => [...one])))}`,
  );
}

async function run(agent: string, script: Parameters<ProviderServer["use"]>[0], more: object = {}) {
  provider.use(script);
  const handle = await client.enqueueRun({
    agent,
    input: "Hello",
    maxAttempts: 1,
    tenant: "default",
    ...more,
  });
  return handle.result({ timeoutMs: 30_000 });
}

beforeAll(async () => {
  redis = await startRedis();
  provider = await startProviderServer({ script: [] });
  fleet = createFleet(redis.url, "counted", project);
  client = new Client({
    redisUrl: redis.url,
    prefix: "counted",
    readAnswer: (approval, answer) => resumeValue(approval, validateAnswer(approval, answer)),
  });
  // A machine under load must not take runs over by itself.
  const more = { DROVER_PII_HASH_KEY: "a key of sixteen bytes and more", DROVER_LEASE_MS: "6000" };
  const env = { ...provider.env, ...more };
  workers = await Promise.all([fleet.start(env), fleet.start(env)]);
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await provider.close();
  await redis.stop();
});

const busy = { status: 503 };
const answered = { text: "done", usage: { input: 100, output: 20, cached: 40, reasoning: 5 } };

describe("counts", () => {
  it("are those of the provider: retries, tokens, dollars", async () => {
    const started = provider.requests.length;
    await run("model_retries", [busy, busy, { toolCalls: [{ name: "search", args: {} }] }, answered]);
    const agent = "model_retries";
    const all = await until((s) => sumOf(s, "drover_runs_total", { agent }) === 1);
    const count = (name: string, labels: object = {}) => sumOf(all, name, { agent, ...labels });
    expect(count("drover_model_calls_total")).toBe(provider.requests.length - started);
    expect(count("drover_model_calls_total", { outcome: "success" })).toBe(2);
    expect(count("drover_model_calls_total", { outcome: "MODEL_ERROR" })).toBe(2);
    expect(count("drover_model_call_duration_seconds_count")).toBe(4);
    expect(count("drover_retries_total", { layer: "model" })).toBe(2);
    expect(count("drover_retries_total", { layer: "run" })).toBe(0);
    const tokens = (direction: string) => count("drover_model_tokens_total", { direction });
    expect([tokens("input"), tokens("output"), tokens("cached"), tokens("reasoning")]).toEqual([
      110, 25, 40, 5,
    ]);
    const [, dollars] = [...(all.flatMap((s) => [...s]) as [string, number][])].find(
      ([series]) => series.startsWith("drover_model_cost_dollars_total") && series.includes(`"${agent}"`),
    ) as [string, number];
    const { usage } = (await client.listRuns({ limit: 1 }))[0] ?? { usage: null };
    expect(dollars).toBeCloseTo((usage?.costMicros ?? 0) / 1e6, 9);
    expect(dollars).toBeGreaterThan(0);
    expect(count("drover_tool_calls_total", { tool: "search", outcome: "success" })).toBe(1);
    expect(count("drover_queue_wait_seconds_count")).toBe(1);
    expect(count("drover_queue_wait_seconds_sum")).toBeLessThan(20);
    expect(count("drover_activation_duration_seconds_count", { outcome: "completed" })).toBe(1);
    expect(count("drover_run_endings_total", { ended_by: "completed" })).toBe(1);
    // Nobody said where traces go: there are none.
    expect(workers.flatMap(({ logs }) => logs).some((line) => "traceId" in line)).toBe(false);
  });

  it("are those of the tools: tries are not calls", async () => {
    const agent = "tool_retries";
    const before = fleet.ledger().length;
    const call = { toolCalls: [{ name: "search", args: { fail: "Busy", n: 2 } }] };
    await run(agent, [call, answered]);
    const all = await until((s) => sumOf(s, "drover_runs_total", { agent }) === 1);
    expect(fleet.ledger().length - before).toBe(3);
    expect(sumOf(all, "drover_tool_calls_total", { agent, tool: "search" })).toBe(1);
    expect(sumOf(all, "drover_retries_total", { agent, layer: "tool" })).toBe(2);
    const invented = Array.from({ length: 30 }, (_, i) => ({ name: `invented_${i}`, args: {} }));
    await run(agent, [{ toolCalls: invented }, answered]);
    const more = await until((s) => sumOf(s, "drover_tool_calls_total", { agent, tool: "other" }) === 30);
    expect(more.flatMap((s) => [...s.keys()]).filter((series) => series.includes("invented"))).toEqual([]);
  });

  it("name failures, fallbacks and limits", async () => {
    await run("model_error", () => busy);
    await run("fallback", [busy, busy, answered]);
    await run("model_run_limit", () => ({ toolCalls: [{ name: "search", args: {} }] }));
    const all = await until((s) => sumOf(s, "drover_runs_total", { agent: "model_run_limit" }) === 1);
    expect(sumOf(all, "drover_run_failures_total", { agent: "model_error", code: "MODEL_ERROR" })).toBe(1);
    expect(sumOf(all, "drover_runs_total", { agent: "model_error", outcome: "error" })).toBe(1);
    expect(sumOf(all, "drover_fallbacks_total", { agent: "fallback" })).toBe(2);
    expect(sumOf(all, "drover_limit_hits_total", { agent: "model_run_limit", limit: "model_calls" })).toBe(1);
    expect(
      sumOf(all, "drover_run_endings_total", { agent: "model_run_limit", ended_by: "model_call_limit" }),
    ).toBe(1);
  });

  it("tell a second try of a whole run from a first one", async () => {
    const agent = "model_error";
    provider.use([busy, busy, answered]);
    const handle = await client.enqueueRun({ agent, input: "Hello", maxAttempts: 2 });
    await handle.result({ timeoutMs: 30_000 });
    const all = await until((s) => sumOf(s, "drover_runs_total", { agent, outcome: "success" }) === 1);
    expect(sumOf(all, "drover_retries_total", { agent, layer: "run" })).toBe(1);
  });

  it("follow a question from its asking to its answer", async () => {
    const agent = "approve_all";
    await run(agent, [{ toolCalls: [{ name: "pay", args: { n: 1 } }] }, answered]);
    const waiting = await until((s) => sumOf(s, "drover_interrupts_pending") === 1);
    expect(sumOf(waiting, "drover_interrupts_raised_total", { agent })).toBe(1);
    expect(sumOf(waiting, "drover_runs", { status: "interrupted" })).toBe(1);
    const [approval] = await client.listApprovals();
    await client.decide(approval?.approvalId ?? "", { decisions: [{ type: "approve" }] });
    const after = await until((s) => sumOf(s, "drover_runs_total", { agent, outcome: "success" }) === 1);
    expect(sumOf(after, "drover_interrupts_answered_total", { agent, decision: "approve" })).toBe(1);
    await until((s) => sumOf(s, "drover_interrupts_pending") === 0);
  });

  it("measure the first token of what is streamed", async () => {
    const agent = "model_backoff";
    await run(agent, [{ ...answered, text: "one two three", delayMs: 300 }], { streamMode: ["messages"] });
    const all = await until((s) => sumOf(s, "drover_runs_total", { agent }) === 1);
    expect(sumOf(all, "drover_model_first_token_seconds_count", { agent })).toBe(1);
    const seconds = sumOf(all, "drover_model_first_token_seconds_sum", { agent });
    expect(seconds).toBeGreaterThan(0.25);
    expect(seconds).toBeLessThanOrEqual(sumOf(all, "drover_model_call_duration_seconds_sum", { agent }));
  });
});

describe("the whole fleet", () => {
  it("is told by one worker, and by another when that one dies; no count of a takeover is twice", async () => {
    const agent = "model_constant";
    const tells = (one: Scrape) => exports(one, "drover_workers");
    await until((s) => s.filter(tells).length === 1 && sumOf(s, "drover_workers") === 2);
    const seen = await scrapes();
    const other = seen.find((one) => !tells(one)) as Scrape;
    for (const name of FLEET_GAUGES) expect(exports(other, name), name).toBe(false);
    const { length } = await client.listRuns({ limit: 100 });
    await until((s) => sumOf(s, "drover_runs") === length);

    const before = provider.requests.length;
    provider.use([{ hang: true }, answered]);
    const handle = await client.enqueueRun({ agent, input: "Hello" });
    await provider.received(before + 1);
    const last = await until((s) => sumOf(s, "drover_worker_slots_in_use") === 1);
    const victim = last.findIndex((one) => sumOf([one], "drover_worker_slots_in_use") === 1);
    workers[victim]?.kill("SIGKILL");
    const [dead] = workers.splice(victim, 1);
    await dead?.exited;
    expect((await handle.result({ timeoutMs: 30_000 })).status).toBe("success");
    const all = await until((s) => s.every(tells) && sumOf(s, "drover_runs_total", { agent }) === 1);
    const together = [...all, last[victim] as Scrape];
    expect(provider.requests.length - before).toBe(2);
    expect(sumOf(together, "drover_model_calls_total", { agent })).toBe(1);
    expect(sumOf(together, "drover_sweeper_repairs_total", { repair: "takeover" })).toBe(1);
    expect(sumOf(together, "drover_retries_total", { agent })).toBe(0);
    await until(
      (s) => sumOf(s, "drover_workers") === 1 && sumOf(s, "drover_runs", { status: "running" }) === 0,
    );
  }, 90_000);
});
