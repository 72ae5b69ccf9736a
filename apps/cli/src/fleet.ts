import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { DroverError, ERROR_CODES, type ErrorCode } from "@drover/contracts";
import type { CliConfig } from "./config.js";

const WORKER_MAIN = join(dirname(createRequire(import.meta.url).resolve("@drover/worker")), "main.js");

/** Milliseconds beyond the drain after which a worker that has not left is killed. */
const GRACE_MS = 7000;
/** Deaths of one worker, each within a minute of the one before, after which it is not started again. */
const MOST_DEATHS = 10;

export interface FleetOptions {
  count: number;
  config: CliConfig;
  redisUrl: string;
  /** Level of the workers' logs where LOG_LEVEL is not set. */
  logLevel: "info" | "warn";
  /** What somebody who looks on should know: a worker died and was started again. */
  onNote: (text: string) => void;
}

interface Member {
  number: number;
  child: ChildProcess;
  url: string | null;
  deaths: number;
  diedAt: number;
}

/**
 * Worker processes of this command. They end with it: in order by `stop`, and by themselves when this process is
 * gone without a word. In a process group of their own, so that Ctrl-C reaches this process alone.
 */
export class Fleet {
  private readonly members: Member[] = [];
  private readonly broken = new AbortController();
  private stopping: Promise<void> | null = null;

  private constructor(private readonly options: FleetOptions) {}

  /** Resolves when every worker takes runs. Throws what kept one from starting; none is left then. */
  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    mkdirSync(fleet.logFolder, { recursive: true, mode: 0o700 });
    try {
      const numbers = Array.from({ length: options.count }, (_, i) => i + 1);
      await Promise.all(numbers.map((number) => fleet.launch(number)));
    } catch (error) {
      fleet.kill();
      throw error;
    }
    return fleet;
  }

  get logFolder(): string {
    return join(this.options.config.root, ".drover", "logs");
  }

  /** Where /metrics, /healthz and /readyz of each worker answer. */
  get urls(): string[] {
    return this.members.flatMap((member) => member.url ?? []);
  }

  /** Fires when no worker is left, with the reason. */
  get signal(): AbortSignal {
    return this.broken.signal;
  }

  /** Lets every worker hand over what it has in hand; one that does not leave in time is killed. */
  stop(): Promise<void> {
    this.stopping ??= Promise.all(
      this.members.map(({ child }) => {
        if (hasEnded(child)) return Promise.resolve();
        const left = new Promise<void>((resolve) => child.once("exit", () => resolve()));
        child.kill("SIGTERM");
        const late = setTimeout(() => child.kill("SIGKILL"), this.options.config.drainMs + GRACE_MS);
        return left.finally(() => clearTimeout(late));
      }),
    ).then(() => {});
    return this.stopping;
  }

  /** At once: what is in hand is taken over by others, as after a crash. */
  kill(): void {
    this.stopping ??= Promise.resolve();
    for (const { child } of this.members) child.kill("SIGKILL");
  }

  private async launch(number: number): Promise<void> {
    const member: Member = { number, child: this.spawn(number), url: null, deaths: 0, diedAt: 0 };
    this.members.push(member);
    await this.untilReady(member);
  }

  private spawn(number: number): ChildProcess {
    const { config, redisUrl, logLevel } = this.options;
    const log = openSync(join(this.logFolder, `worker-${number}.log`), "a", 0o600);
    const env = {
      ...config.env,
      REDIS_URL: redisUrl,
      DROVER_ROOT: config.root,
      DROVER_DRAIN_MS: String(config.drainMs),
      // One port can't serve several workers.
      DROVER_METRICS_PORT: "0",
      DROVER_LOG_PRETTY: "0",
      LOG_LEVEL: config.logLevel ?? logLevel,
    };
    try {
      return spawn(process.execPath, [WORKER_MAIN], {
        cwd: config.root,
        env,
        detached: true,
        stdio: ["ignore", log, "pipe", "ipc"],
      });
    } finally {
      closeSync(log);
    }
  }

  private untilReady(member: Member): Promise<void> {
    const { child } = member;
    let complaint = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      complaint = `${complaint}${text}`.slice(-4000);
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("message", (message) => {
        member.url = (message as { url: string }).url;
        resolve();
      });
      // Not "exit": what it complained of may still be on its way then.
      child.once("close", (code, signal) => {
        reject(startFailure(complaint, code, signal));
        if (member.url !== null && !this.stopping) this.replace(member, signal ?? `exit code ${code}`);
      });
    });
  }

  private replace(member: Member, how: string): void {
    member.deaths = performance.now() - member.diedAt < 60_000 ? member.deaths + 1 : 1;
    member.diedAt = performance.now();
    member.url = null;
    if (member.deaths >= MOST_DEATHS) {
      this.giveUp(member, `it ended ${MOST_DEATHS} times`);
      return;
    }
    this.options.onNote(`Worker ${member.number} ended (${how}); another takes its place.`);
    member.child = this.spawn(member.number);
    this.untilReady(member).catch((error: Error) => this.giveUp(member, error.message));
  }

  private giveUp(member: Member, why: string): void {
    if (this.stopping) return;
    this.options.onNote(`Worker ${member.number} is not started again: ${why}`);
    if (this.members.some(({ child }) => !hasEnded(child))) return;
    this.broken.abort(
      new DroverError(
        "INTERNAL",
        `No worker is left. Their logs are in ${this.logFolder}; what was accepted waits for the next worker.`,
      ),
    );
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** A worker says `worker: CODE: message` when it can't start. */
function startFailure(complaint: string, code: number | null, signal: string | null): DroverError {
  const said = /^worker: ([A-Z_]+): ([\s\S]+)$/m.exec(complaint.trim());
  const [, name, message] = said ?? [];
  if (name !== undefined && message !== undefined && Object.hasOwn(ERROR_CODES, name)) {
    return new DroverError(name as ErrorCode, message);
  }
  const last = complaint.trim().split("\n").at(-1);
  return new DroverError(
    "INTERNAL",
    `A worker did not start (${signal ?? `exit code ${code}`})${last ? `: ${last}` : "."}`,
  );
}
