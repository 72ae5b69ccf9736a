/**
 * A real Prometheus scrapes real workers that go through everything: every panel has data, every alert finds its
 * metrics, and those whose reason is cheap to give fire and resolve.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { resumeValue, validateAnswer } from "@drover/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ProviderReply,
  type ProviderRequest,
  type ProviderServer,
  startProviderServer,
} from "../../../libs/runtime/src/testing/index.js";
import { ALERTS } from "../../../libs/telemetry/src/alerts/alerts.js";
import { DASHBOARDS } from "../../../libs/telemetry/src/grafana/dashboards.js";
import { createFleet, type Fleet, type WorkerProcess } from "./testing/processes.js";
import { startWatch, type Watch } from "./testing/prometheus.js";
import { createSender, type Sender } from "./testing/sender.js";

const project = fileURLToPath(new URL("../testing/watched/", import.meta.url));
let redis: RedisServer;
let provider: ProviderServer;
let fleet: Fleet;
let client: Client;
let sender: Sender;
let watch: Watch;
let workers: WorkerProcess[];

/** What the model says follows from what a run asks for, and from what its tools said. */
function answer({ messages, api }: ProviderRequest): ProviderReply {
  const asked = messages.findLast(({ role }) => role === "user")?.text ?? "";
  const hasResult = messages.some(({ role }) => role === "tool");
  const call = (name: string, args: object): ProviderReply => ({ toolCalls: [{ name, args }] });
  const done: ProviderReply = {
    text: "It is done.",
    usage: { input: 1000, output: 200, cached: 400, reasoning: 50 },
  };
  if (asked.startsWith("no key")) return { status: 401 };
  if (asked.startsWith("storm")) return { status: 429 };
  if (asked.startsWith("down")) return { status: 503 };
  if (asked.startsWith("fallback")) return api === "anthropic-messages" ? done : { status: 503 };
  if (asked.startsWith("loop")) return call("look_up", {});
  if (hasResult) return done;
  if (asked.startsWith("broken tool")) return call("look_up", { broken: true });
  if (asked.startsWith("pay")) return call("pay", {});
  if (asked.startsWith("die")) return call("pay", { dies: asked });
  if (asked.startsWith("ask")) return call("transfer", {});
  return done;
}

const start = (input: string, more: object = {}) =>
  client.enqueueRun({ agent: "clerk", input, maxAttempts: 1, ...more });
const end = async (input: string, more: object = {}) =>
  (await start(input, more)).result({ timeoutMs: 60_000 });

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await holds()) return;
    await sleep(150);
  }
  throw new Error(`gave up waiting until ${what}`);
}
async function untilFiring(...names: string[]): Promise<void> {
  let missing = names;
  const fire = async () => {
    const firing = await watch.firing();
    missing = names.filter((name) => !firing.includes(name));
    return missing.length === 0;
  };
  await until("the alerts fire", fire).catch(() => expect(missing).toEqual([]));
}

/** Panels of which a query gives nothing, once one of the workers tells of the fleet. */
async function emptyPanels(): Promise<string[]> {
  const told = async () => (await watch.query("max(drover_workers)")).length === 1;
  await until("a worker tells of the fleet", told);
  const empty: string[] = [];
  for (const { uid, rows } of DASHBOARDS) {
    for (const { title, queries, emptyWhile } of rows.flatMap((row) => row.panels)) {
      for (const { expr } of queries) {
        const asked = expr
          .replace(/\$__(rate_interval|range)/g, "5m")
          .replace(/\$(agent|tenant|model)/g, ".*");
        const found = await watch.query(asked);
        if (found.filter(({ value }) => Number.isFinite(value)).length === 0)
          empty.push(`${uid}, ${title}: ${emptyWhile ?? asked}`);
      }
    }
  }
  return empty;
}

beforeAll(async () => {
  redis = await startRedis({ maxmemory: "512mb" });
  provider = await startProviderServer({ script: answer });
  fleet = createFleet(redis.url, "watched", project);
  client = new Client({
    redisUrl: redis.url,
    prefix: "watched",
    readAnswer: (approval, given) => resumeValue(approval, validateAnswer(approval, given)),
  });
  sender = createSender(redis.url, "watched");
  // A machine under load must not lose leases by itself.
  const env = { ...provider.env, DROVER_LEASE_MS: "3000", DROVER_CONCURRENCY: "6" };
  workers = await Promise.all([fleet.start(env), fleet.start(env)]);
  const urls = workers.map(({ logs }) => String(logs.find((line) => line.msg === "worker ready")?.url));
  watch = await startWatch(urls.map((url) => url.replace("http://", "")));
  // Counters that begin with 0 are seen before they grow.
  await until("both workers are scraped", async () => (await watch.query("up == 1")).length === 2);
  await Promise.all(Array.from({ length: 8 }, () => end("warm up")));
}, 120_000);
afterAll(async () => {
  await watch?.stop();
  await Promise.all([client?.close(), sender?.close()]);
  await fleet?.end();
  await provider?.close();
  await redis?.stop();
});

describe("a fleet that is watched", () => {
  it("says of each panel that has nothing to show yet when that is so", async () => {
    const untold = (empty: readonly string[]) =>
      empty.filter((panel) => !/: (Empty|There is no line) /.test(panel));
    // A rate needs two scrapes of what the load has just begun to count.
    await expect.poll(async () => untold(await emptyPanels()), { timeout: 20_000 }).toEqual([]);
    expect(await emptyPanels()).toContainEqual(expect.stringContaining("Fallbacks: Empty"));
  });

  it("fires for what goes wrong, and says what to look at", async () => {
    const many = (input: string, length = 8) =>
      Promise.all(Array.from({ length }, (_, i) => end(`${input} ${i}`)));
    await Promise.all([
      many("fine, says ada@example.com"),
      many("down"),
      many("storm"),
      many("broken tool", 20),
      end("no key"),
      end("fallback"),
      end("loop"),
      end("pay"),
      end("speak", { streamMode: ["messages"] }),
      end("hello", { agent: "unpriced" }),
      ...["one", "two", "three"].map((id) => end(id, { concurrencyKey: "door", concurrencyLimit: 1 })),
      sender.send({ nonsense: true }),
    ]);
    await untilFiring(
      "DroverRunsFail",
      "DroverProviderFails",
      "DroverProviderLimitsRate",
      "DroverProviderRefusesKey",
      "DroverToolFails",
      "DroverLimitEndedRuns",
      "DroverMessagesRefused",
    );
    await until("Alertmanager is told", async () =>
      watch.told.some(({ name }) => name === "DroverProviderRefusesKey"),
    );
    const told = watch.told.find(({ name }) => name === "DroverProviderRefusesKey");
    expect(told?.annotations).toMatchObject({
      summary: expect.stringMatching(/^(openai|anthropic) refuses the key$/),
      command: "drover runs list --status error --code MODEL_AUTH --limit 1000",
      runbook: "docs/runbooks.md#droverproviderrefuseskey",
    });
  }, 120_000);

  it("fires while approvals are about to expire and while Redis is full, and resolves", async () => {
    expect((await end("ask")).status).toBe("interrupted");
    // What Redis uses moves: the limit follows it, so that it stays nearly reached.
    let isNearlyFull = true;
    const squeeze = async () => {
      while (isNearlyFull) {
        const used = Number(/used_memory:(\d+)/.exec(await client.state.redis.info("memory"))?.[1]);
        await client.state.redis.config("SET", "maxmemory", String(Math.round(used / 0.93)));
        await sleep(200);
      }
    };
    const firing = untilFiring("DroverApprovalsExpire", "DroverRedisMemory").finally(() => {
      isNearlyFull = false;
    });
    await Promise.all([firing, squeeze()]);
    await client.state.redis.config("SET", "maxmemory", "512mb");
    const [approval] = await client.listApprovals();
    await client.decide(approval?.approvalId ?? "", { decisions: [{ type: "approve" }] });
    const resolved = (name: string) =>
      watch.told.some((one) => one.name === name && one.status === "resolved");
    for (const name of ["DroverApprovalsExpire", "DroverRedisMemory"]) {
      await until(`${name} is resolved`, async () => resolved(name));
    }
  }, 240_000);

  it("fires where a worker stood still, and where one died with an effect under way", async () => {
    await end("", { agent: "blocker", input: { id: "block", ms: 6000 } });
    const logs = () => workers.flatMap((worker) => worker.logs);
    const blocked = () => logs().filter(({ msg }) => msg === "the event loop was blocked");
    await until("it is logged", async () => blocked().length > 0);
    expect(blocked()).toContainEqual(
      expect.objectContaining({ level: "warn", runs: expect.objectContaining({ blocker: 1 }) }),
    );
    await untilFiring("DroverEventLoopBlocked", "DroverLeasesLost", "DroverRunsTakenOver");
    expect((await end("die")).error?.code).toBe("EFFECT_UNKNOWN");
    await untilFiring("DroverEffectsUnknown", "DroverWorkerUnreachable");
  }, 120_000);

  it("has data in every panel", async () => {
    expect(await emptyPanels()).toEqual([]);
  });

  it("has the series that every alert asks for", async () => {
    const missing: string[] = [];
    for (const { name, expr } of ALERTS) {
      await watch.query(expr);
      for (const [selector] of expr.matchAll(/\b(?:drover_\w+|up)(?:\{[^}]*\})?/g)) {
        if ((await watch.query(`count(last_over_time(${selector}[5m]))`)).length === 0)
          missing.push(`${name}: ${selector}`);
      }
    }
    expect(missing).toEqual([]);
  });
});
