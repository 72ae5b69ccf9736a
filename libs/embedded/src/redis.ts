import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { requireRedisBinary } from "./binary.js";
import { type RedisOptions, redisConfig } from "./options.js";
import { freePort } from "./port.js";
import type { RedisAddress } from "./resp.js";
import { isPortTaken, sizeOf, startFailure, untilReady } from "./starting.js";
import { startWatched, type WatchedProcess } from "./watchdog.js";

/** A redis-server of our own on 127.0.0.1. It ends with the process that started it, however that ends. */
export interface RedisServer {
  /** `redis://default:password@127.0.0.1:port`: a secret. */
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
      stopTimeoutMs: options.stopTimeoutMs ?? 10_000,
    });
    try {
      await untilReady(started, address, options.startTimeoutMs ?? 30_000);
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
    url:
      password === undefined ? `redis://127.0.0.1:${port}` : `redis://default:${password}@127.0.0.1:${port}`,
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
