import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LEDGER_VARIABLE } from "./ledger.js";

const main = fileURLToPath(new URL("main.js", import.meta.resolve("@drover/worker")));
const clock = new URL("../preload/clock.mjs", import.meta.url).href;

/** How many of a worker's last log lines are kept. */
const LOG_LINES = 400;

export interface WorkerSettings {
  redisUrl: string;
  prefix: string;
  root: string;
  ledger: string;
  leaseMs: number;
  concurrency: number;
  /** Milliseconds by which its clock is wrong. */
  clockMs?: number;
  /** The address of a module that the process imports first. */
  preload?: string;
  env?: Record<string, string>;
}

/** One worker process of the build. */
export class WorkerProcess {
  readonly logs: string[] = [];
  readonly ready: Promise<void>;
  /** The exit code; null where a signal ended it. */
  readonly exited: Promise<number | null>;
  hasExited = false;
  isReady = false;
  /** Whether the harness ended it, so that its end is no surprise. */
  isExpectedToEnd = false;
  private readonly child: ChildProcess;

  constructor(settings: WorkerSettings) {
    const child = spawn(process.execPath, [main], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_OPTIONS: `--import=${settings.preload ?? clock}`,
        REDIS_URL: settings.redisUrl,
        DROVER_PREFIX: settings.prefix,
        DROVER_ROOT: settings.root,
        DROVER_LEASE_MS: String(settings.leaseMs),
        DROVER_CONCURRENCY: String(settings.concurrency),
        DROVER_CHAOS_CLOCK_MS: String(settings.clockMs ?? 0),
        [LEDGER_VARIABLE]: settings.ledger,
        ...settings.env,
      },
      // With a channel to this process: when it is gone, whatever ended it, the worker leaves too.
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.child = child;
    this.exited = new Promise((resolve) => {
      child.once("exit", (code) => {
        this.hasExited = true;
        resolve(code);
      });
    });
    this.ready = new Promise((resolve, reject) => {
      const read = (data: Buffer): void => {
        for (const line of data.toString().split("\n").filter(Boolean)) {
          this.logs.push(line);
          if (!line.includes('"worker ready"')) continue;
          this.isReady = true;
          resolve();
        }
        this.logs.splice(0, this.logs.length - LOG_LINES);
      };
      child.stdout?.on("data", read);
      child.stderr?.on("data", read);
      this.exited.then((code) => reject(new Error(`the worker ended with ${code} before it was ready`)));
    });
    this.ready.catch(() => {});
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.hasExited) this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.isExpectedToEnd = true;
    this.signal("SIGKILL");
    await this.exited;
  }
}
