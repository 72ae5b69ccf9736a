/** Where planted values go their ways: a Redis, a provider, real workers, and somebody who takes webhooks and traces. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  BUILT_IN_PII_TYPES,
  NO_REDACTION,
  REDACTION_STRATEGIES,
  type Redactor,
  type RunRequest,
} from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { createRedactor } from "@drover/redaction";
import { resumeValue, validateAnswer } from "@drover/runtime";
import { type ProviderServer, startProviderServer } from "../../../../libs/runtime/src/testing/index.js";
import { everythingIn, filesOf } from "./everything.js";
import { plantedScript } from "./planted-script.js";
import { plantedText, ROADS, type Road } from "./planted-values.js";
import { createFleet, type Fleet, type WorkerProcess } from "./processes.js";
import { type Receiver, startReceiver } from "./receiver.js";

export const PROJECT = fileURLToPath(new URL("../../testing/planted/", import.meta.url));
const CLI = fileURLToPath(new URL("../../../cli/dist/main.js", import.meta.url));
const HASH_KEY = "a key of sixteen bytes and more";
/** Long enough that what is stored of a text is compressed. */
const LONG: readonly Road[] = ["tool_result", "file", "memory"];
const FILLER = " and so on".repeat(480);

export interface Scene {
  redis: RedisServer;
  prefix: string;
  client: Client;
  provider: ProviderServer;
  receiver: Receiver;
  fleet: Fleet;
  /**
   * Starts another worker. A traced one tells LangSmith and a collector of each step, which takes it several times as long; one with
   * late rules has rules for the agents that had none.
   */
  worker(how?: { traced?: boolean; lateRules?: boolean }): Promise<WorkerProcess>;
  /** Lets calls of the tool `wait` return. */
  open(): void;
  /** Runs the command line; gives what it printed, whatever came of it. */
  drover(args: readonly string[]): Promise<string>;
  /** What a stranger could read, by where. */
  scan(): Promise<Record<string, string>>;
  /** Has Redis write its append-only file anew, and waits for it. */
  rewriteFiles(): Promise<void>;
  close(): Promise<void>;
}

/** What runs ask for, so that they tell everybody everything. */
export const LOUD = { streamMode: ["messages", "updates", "custom"] } satisfies Partial<RunRequest>;

export async function openScene(prefix: string, settings: Record<string, string> = {}): Promise<Scene> {
  const [redis, provider, receiver] = await Promise.all([
    startRedis(),
    startProviderServer({ script: plantedScript }),
    startReceiver(),
  ]);
  const planted = Object.fromEntries(
    ROADS.map((road) => [road, plantedText(road) + (LONG.includes(road) ? FILLER : "")]),
  );
  const env: Record<string, string> = {
    ...provider.env,
    DROVER_PII_HASH_KEY: HASH_KEY,
    DROVER_SERVICE_KEYS: "webhook=a-secret-of-the-webhooks",
    DROVER_WEBHOOK_PRIVATE: "1",
    LOG_LEVEL: "debug",
    // Every text is looked through by nine rules: where the machine is busy, a short lease would be lost.
    DROVER_LEASE_MS: "4000",
    PLANTED: JSON.stringify(planted),
    PLANTED_TYPES: JSON.stringify(BUILT_IN_PII_TYPES),
    ...settings,
  };
  const fleet = createFleet(redis.url, prefix, PROJECT);
  const workers: WorkerProcess[] = [];
  const said: string[] = [];
  const client = new Client({
    redisUrl: redis.url,
    prefix,
    readAnswer: (approval, answer) => resumeValue(approval, validateAnswer(approval, answer)),
    redactorOf: rulesOf,
  });
  // Redis would compress texts of its own, which nobody could read here.
  await client.state.redis.config("SET", "rdbcompression", "no");
  const scene: Scene = {
    redis,
    prefix,
    client,
    provider,
    receiver,
    fleet,
    async worker({ traced = false, lateRules = false } = {}) {
      const tracing = {
        LANGSMITH_TRACING: "true",
        LANGSMITH_ENDPOINT: `${receiver.url}/langsmith`,
        LANGSMITH_API_KEY: "test",
        OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/otlp`,
        DROVER_OTEL_CONTENT: "1",
      };
      const worker = await fleet.start({
        ...env,
        ...(traced ? tracing : {}),
        ...(lateRules ? { LATE_RULES: "1" } : {}),
      });
      workers.push(worker);
      return worker;
    },
    open: () => writeFileSync(`${fleet.ledgerFile}.open`, ""),
    async drover(args) {
      const own = {
        PATH: process.env.PATH,
        REDIS_URL: redis.url,
        DROVER_PREFIX: prefix,
        DROVER_ROOT: PROJECT,
      };
      const ended = await promisify(execFile)(process.execPath, [CLI, ...args], {
        env: { ...own, ...env },
      }).catch((error: { stdout: string; stderr: string }) => error);
      said.push(ended.stdout, ended.stderr);
      return ended.stdout + ended.stderr;
    },
    async scan() {
      const running = workers.filter(
        ({ process: { exitCode, signalCode } }) => exitCode === null && signalCode === null,
      );
      const metrics = await Promise.all(running.map((worker) => fetch(`${worker.url()}/metrics`)));
      await client.state.redis.save();
      return {
        redis: await everythingIn(client.state.redis),
        files: filesOf(redis.dir),
        logs: workers.map((worker) => JSON.stringify(worker.logs) + worker.stderr()).join("\n"),
        metrics: (await Promise.all(metrics.map((response) => response.text()))).join("\n"),
        provider: JSON.stringify(provider.requests),
        webhooks: receiver.received("/hook").join("\n"),
        traces: receiver.received("/langsmith").join("\n"),
        spans: receiver.received("/otlp").join("\n"),
        screen: said.join("\n"),
      };
    },
    async rewriteFiles() {
      const { redis: connection } = client.state;
      await connection.bgrewriteaof();
      const isOver = async () =>
        /aof_rewrite_in_progress:0[\s\S]*aof_rewrite_scheduled:0/.test(await connection.info("persistence"));
      while (!(await isOver())) await sleep(50);
    },
    async close() {
      await client.close();
      await fleet.end();
      await Promise.all([provider.close(), receiver.close()]);
      await redis.stop();
    },
  };
  return scene;
}

/** The rules that an agent of the project has by its name, or by the fleet's policy: as a producer knows them. */
function rulesOf(agent: string): Redactor {
  const strategy = REDACTION_STRATEGIES.find((one) => agent.endsWith(`_${one}`));
  if (strategy === undefined && agent !== "graph") return NO_REDACTION;
  const rules = BUILT_IN_PII_TYPES.map((type) => ({
    type,
    strategy: strategy ?? "redact",
    everywhere: true,
  }));
  return createRedactor({ rules, hashKey: HASH_KEY });
}
