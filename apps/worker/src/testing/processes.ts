import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const project = fileURLToPath(new URL("../../testing/project/", import.meta.url));

export interface WorkerProcess {
  pid: number;
  process: ChildProcess;
  /** What it logged, parsed. */
  logs: Record<string, unknown>[];
  /** What it wrote to standard error so far. */
  stderr(): string;
  /** Where its /metrics answers. */
  url(): string;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number | null>;
}

export interface Fleet {
  /** Where the agents note what they did to the world. */
  ledgerFile: string;
  ledger: () => Record<string, unknown>[];
  start(env?: Record<string, string>): Promise<WorkerProcess>;
  /** Kills every worker; others may be started after it. */
  killAll(): Promise<void>;
  /** Ends every worker that is left, the hard way. */
  end(): Promise<void>;
}

/** Real worker processes of the build, on a Redis that the test started, with the agents of testing/project. */
export function createFleet(redisUrl: string, prefix: string, root = project): Fleet {
  const folder = mkdtempSync(join(tmpdir(), "drover-worker-"));
  const ledgerFile = join(folder, "ledger.jsonl");
  writeFileSync(ledgerFile, "");
  const workers: WorkerProcess[] = [];
  const killAll = async (): Promise<void> => {
    for (const worker of workers) worker.kill("SIGKILL");
    await Promise.all(workers.map((worker) => worker.exited));
  };
  return {
    ledgerFile,
    ledger: () =>
      readFileSync(ledgerFile, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    async start(env = {}) {
      const child = spawn(process.execPath, [main], {
        env: {
          PATH: process.env.PATH,
          REDIS_URL: redisUrl,
          DROVER_PREFIX: prefix,
          DROVER_ROOT: root,
          DROVER_LEASE_MS: "1200",
          LEDGER: ledgerFile,
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const logs: Record<string, unknown>[] = [];
      let stderr = "";
      child.stderr.on("data", (data: Buffer) => {
        stderr += data.toString();
      });
      const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
      const worker: WorkerProcess = {
        pid: child.pid ?? 0,
        process: child,
        logs,
        stderr: () => stderr,
        url: () => String(logs.find((line) => line.msg === "worker ready")?.url),
        kill: (signal) => child.kill(signal),
        exited,
      };
      workers.push(worker);
      await new Promise<void>((resolve, reject) => {
        let rest = "";
        child.stdout.on("data", (data: Buffer) => {
          const lines = (rest + data.toString()).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) logs.push(JSON.parse(line) as Record<string, unknown>);
          if (logs.some((line) => line.msg === "worker ready")) resolve();
        });
        exited.then((code) =>
          reject(new Error(`the worker ended with ${code} before it was ready: ${stderr}`)),
        );
      });
      return worker;
    },
    killAll,
    async end() {
      await killAll();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
