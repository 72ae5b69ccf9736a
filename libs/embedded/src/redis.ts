import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DroverError } from "@drover/contracts";
import { requireRedisBinary } from "./binary.js";
import { freePort } from "./port.js";
import { type RedisAddress, RedisReplyError, redisCommand } from "./resp.js";
import { startWatched, type WatchedProcess } from "./watchdog.js";

export interface RedisOptions {
  /** Where Redis keeps its append-only file and log. By default a temporary folder that stop() removes. */
  dir?: string;
  /** By default a free one. */
  port?: number;
  /** As in redis.conf: `64mb`, or a number of bytes. By default no limit. */
  maxmemory?: string | number;
  /** Default true: after restart() with the same folder the data is there again. */
  appendonly?: boolean;
  /** Default `everysec`. */
  appendfsync?: "always" | "everysec" | "no";
  /** Starts a node of a Redis Cluster, without a password. Default false; startCluster sets it. */
  cluster?: boolean;
  /** By default the first on the PATH. */
  binary?: string;
  /** How long Redis may give no sign of life at its start; loading its file is one. Default 30,000 ms. */
  startTimeoutMs?: number;
}

/** A redis-server of our own on 127.0.0.1. It ends with the process that started it, however that ends. */
export interface RedisServer {
  /** `redis://:password@127.0.0.1:port`: a secret. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dir: string;
  /** Stops in order and removes a temporary folder. Safe to call twice. */
  stop(): Promise<void>;
  /** Sends a signal, by default SIGKILL. After one that ends Redis, resolves when it has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts again on the same port, folder and password; stops in order first if it still runs. */
  restart(): Promise<void>;
}

const ENDING_SIGNALS: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGKILL",
  "SIGTERM",
  "SIGINT",
  "SIGABRT",
  "SIGSEGV",
]);
const PORT_TRIES = 10;

/**
 * Starts a private redis-server and resolves when it answers PING: bound to 127.0.0.1, with a random password, an
 * append-only file and `maxmemory-policy noeviction`. Throws NO_REDIS when there is no binary or it does not start.
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const binary = options.binary ?? requireRedisBinary();
  const temporary = options.dir === undefined;
  const dir = resolve(options.dir ?? mkdtempSync(join(tmpdir(), "drover-redis-")));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const password = options.cluster ? undefined : randomBytes(24).toString("hex");

  const startOn = async (port: number): Promise<WatchedProcess> => {
    const address: RedisAddress = password === undefined ? { port } : { port, password };
    const logStart = await sizeOf(join(dir, "redis.log"));
    const started = await startWatched({
      binary,
      dir,
      config: redisConfig(options, address),
      removeDirIfOrphaned: temporary,
    });
    try {
      await answersPing(started, address, options.startTimeoutMs ?? 30_000);
      return started;
    } catch (cause) {
      await started.stop();
      throw await startFailure(dir, logStart, cause);
    }
  };

  let port = options.port ?? (await freePort({ withBus: options.cluster === true }));
  let running: WatchedProcess | undefined;
  for (let tries = 1; running === undefined; tries++) {
    try {
      running = await startOn(port);
    } catch (error) {
      if (options.port !== undefined || tries === PORT_TRIES || !isPortTaken(error)) {
        if (temporary) rmSync(dir, { recursive: true, force: true });
        throw error;
      }
      port = await freePort({ withBus: options.cluster === true });
    }
  }
  let current: WatchedProcess = running;

  return {
    url: password === undefined ? `redis://127.0.0.1:${port}` : `redis://:${password}@127.0.0.1:${port}`,
    port,
    dir,
    get pid() {
      return current.pid;
    },
    async stop() {
      await current.stop();
      if (temporary) rmSync(dir, { recursive: true, force: true });
    },
    async kill(signal = "SIGKILL") {
      if (current.hasEnded()) return;
      process.kill(current.pid, signal);
      if (ENDING_SIGNALS.has(signal)) await current.waitForEnd();
    },
    async restart() {
      await current.stop();
      current = await startOn(port);
    },
  };
}

/** redis.conf. Nothing in it needs quoting: the folder is the working directory. */
function redisConfig(options: RedisOptions, address: RedisAddress): string {
  const lines = [
    "bind 127.0.0.1",
    `port ${address.port}`,
    "daemonize no",
    'save ""',
    `appendonly ${options.appendonly === false ? "no" : "yes"}`,
    `appendfsync ${options.appendfsync ?? "everysec"}`,
    "maxmemory-policy noeviction",
  ];
  if (address.password !== undefined) lines.push(`requirepass ${address.password}`);
  if (options.maxmemory !== undefined) lines.push(`maxmemory ${options.maxmemory}`);
  if (options.cluster) lines.push("cluster-enabled yes", "cluster-node-timeout 5000");
  return `${lines.join("\n")}\n`;
}

/** Resolves when this very process (not another one on the port) answers and has loaded its data. */
async function answersPing(started: WatchedProcess, address: RedisAddress, timeoutMs: number): Promise<void> {
  let lastSign = performance.now();
  while (!started.hasEnded()) {
    try {
      await redisCommand(address, ["PING"]);
      const info = await redisCommand(address, ["INFO", "server"]);
      if (info.includes(`process_id:${started.pid}\r\n`)) return;
    } catch (error) {
      if (error instanceof RedisReplyError && error.message.startsWith("LOADING"))
        lastSign = performance.now();
    }
    if (performance.now() - lastSign > timeoutMs)
      throw new Error(`It gave no sign of life for ${timeoutMs} ms.`);
    await sleep(10);
  }
  throw new Error("It ended at its start.");
}

async function startFailure(dir: string, logStart: number, cause: unknown): Promise<DroverError> {
  const file = join(dir, "redis.log");
  const log = (await readFile(file)).subarray(logStart).toString("utf8").trim();
  const reason = cause instanceof Error ? cause.message : String(cause);
  const lastLines = log.split("\n").slice(-5).join("\n");
  return new DroverError(
    "NO_REDIS",
    `redis-server did not start. ${reason} Its log, ${file}, ends with:\n${lastLines}`,
    {
      cause,
    },
  );
}

function isPortTaken(error: unknown): boolean {
  return (
    error instanceof Error &&
    /address already in use|could not create server tcp|failed listening/i.test(error.message)
  );
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
