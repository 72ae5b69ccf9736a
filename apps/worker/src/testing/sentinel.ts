import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedisBinary } from "@drover/embedded";
import { connect } from "@drover/state";

/** A primary, a replica of it and one Sentinel, which alone decides: for tests, without passwords. */
export interface WatchedRedis {
  url: string;
  /** Ends the primary the hard way; the Sentinel notices after a second. */
  killPrimary(): Promise<void>;
  stop(): Promise<void>;
}

const PRIMARY_IS_DOWN_MS = 1000;

export async function startWatchedRedis(): Promise<WatchedRedis> {
  const folder = mkdtempSync(join(tmpdir(), "drover-sentinel-"));
  const [primary = 0, replica = 0, sentinel = 0] = [await freePort(), await freePort(), await freePort()];
  const common = 'bind 127.0.0.1\nsave ""\nappendonly yes\nmaxmemory-policy noeviction\n';
  const started = [
    start(folder, "primary", `${common}port ${primary}\n`),
    start(folder, "replica", `${common}port ${replica}\nreplicaof 127.0.0.1 ${primary}\n`),
  ];
  await Promise.all([untilAnswers(primary, "role:master"), untilAnswers(replica, "master_link_status:up")]);
  const watch = [
    `bind 127.0.0.1\nport ${sentinel}\nsentinel monitor main 127.0.0.1 ${primary} 1`,
    `sentinel down-after-milliseconds main ${PRIMARY_IS_DOWN_MS}\nsentinel failover-timeout main 5000\n`,
  ];
  started.push(start(folder, "sentinel", watch.join("\n"), "--sentinel"));
  await untilAnswers(sentinel, "slaves=1");
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel}/main`,
    async killPrimary() {
      const [process] = started;
      if (process) await end(process);
    },
    async stop() {
      await Promise.all(started.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Ends with this process, however that ends: the shell waits for its input, which nobody else holds. */
function start(folder: string, name: string, config: string, ...flags: string[]): ChildProcess {
  const dir = join(folder, name);
  mkdirSync(dir);
  writeFileSync(join(dir, "redis.conf"), config);
  const script = '"$@" >redis.log 2>&1 & child=$!; read -r line; kill -9 "$child"; wait "$child"';
  const command = [findRedisBinary() ?? "redis-server", "redis.conf", ...flags];
  return spawn("sh", ["-c", script, "sh", ...command], { cwd: dir, stdio: ["pipe", "ignore", "ignore"] });
}

async function end(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null) return;
  const ended = new Promise((resolve) => process.once("exit", resolve));
  process.stdin?.end("\n");
  await ended;
}

async function untilAnswers(port: number, word: string): Promise<void> {
  const redis = connect({ url: `redis://127.0.0.1:${port}`, role: "worker" });
  const until = Date.now() + 30_000;
  while (!(await redis.info().catch(() => "")).includes(word)) {
    if (Date.now() > until) throw new Error(`no Redis with ${word} on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  redis.disconnect();
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port: 0, host: "127.0.0.1" }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
