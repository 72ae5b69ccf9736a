import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Writable } from "node:stream";

/**
 * The shell program that starts redis-server and outlives its owner just long enough to stop it.
 *
 * - It and Redis run in a session of their own, so a Ctrl-C on the owner's terminal does not reach them: the owner
 *   goes on using Redis while it drains.
 * - Its descriptor 3 is a pipe that only the owner holds open. However the owner ends (kill -9 included), the kernel
 *   closes the pipe, `read` returns with nothing, and Redis is stopped.
 * - Redis gets SIGTERM, on which it writes its append-only file out, and SIGKILL when it is still there after
 *   `stopTimeoutMs`.
 * - The shell starts Redis itself, so there is no moment in which Redis runs unwatched, and it is Redis's parent,
 *   so that the process id can't come to mean another process while it waits.
 *
 * $1 the redis-server binary; $2 a temporary folder to remove once the owner died, or nothing; $3 how many times
 * to look, every 20 ms, before SIGKILL. Standard input carries the configuration, so that the password is neither
 * in the process list nor in a file (passed on as descriptor 4: what a shell starts with & has an empty standard
 * input). Writes Redis's process id to standard output. The owner may say `stop` (end Redis, keep the folder) or
 * `gone` (Redis ended by itself).
 */
const WATCHDOG = `
exec 4<&0
"$1" - <&4 3<&- 4<&- >>redis.log 2>&1 &
redis=$!
echo "$redis"
(
  read -r word
  [ "$word" = gone ] && exit
  kill -TERM "$redis" 2>/dev/null
  tries=0
  while kill -0 "$redis" 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -eq "$3" ] && kill -KILL "$redis"
    sleep 0.02
  done
  if [ -z "$word" ] && [ -n "$2" ]; then cd / && rm -rf "$2"; fi
) <&3 3<&- 4<&- 2>/dev/null &
exec 3<&- 4<&- </dev/null
wait "$redis"
`;

export interface WatchedProcess {
  /** Redis's own process id. */
  pid: number;
  hasEnded(): boolean;
  /** Resolves once Redis has ended, for whatever reason, and nothing that watched it is left either. */
  waitForEnd(): Promise<void>;
  /** Stops Redis in order and waits for its end. */
  stop(): Promise<void>;
}

/** Starts `binary` in `dir` with `config` under the watchdog. Its output is appended to `dir`/redis.log. */
export async function startWatched(options: {
  binary: string;
  dir: string;
  config: string;
  removeDirIfOrphaned: boolean;
  stopTimeoutMs: number;
}): Promise<WatchedProcess> {
  const log = openSync(`${options.dir}/redis.log`, "a", 0o600);
  const args = [
    options.binary,
    options.removeDirIfOrphaned ? options.dir : "",
    String(Math.ceil(options.stopTimeoutMs / 20)),
  ];
  const shell = spawn("/bin/sh", ["-c", WATCHDOG, "drover-redis", ...args], {
    cwd: options.dir,
    detached: true,
    stdio: ["pipe", "pipe", log, "pipe"],
  });
  closeSync(log);
  let over = false;
  const ended = new Promise<void>((resolve) => {
    shell.once("exit", () => {
      over = true;
      say(shell, "gone");
    });
    // "close" comes after "exit", when the watching subshell has let go of standard output.
    shell.once("close", () => resolve());
    shell.once("error", () => resolve());
  });
  for (const stream of shell.stdio) stream?.on("error", ignoreBrokenPipe);
  shell.stdin?.end(options.config);
  const pid = await firstNumber(shell);
  keepAlive(shell, false);
  const waitForEnd = async () => {
    keepAlive(shell, true);
    await ended;
  };
  return {
    pid,
    hasEnded: () => over,
    waitForEnd,
    stop() {
      if (!over) say(shell, "stop");
      return waitForEnd();
    },
  };
}

/** The other end may be gone at any time; the child's "exit" tells. */
function ignoreBrokenPipe(): void {}

function say(shell: ChildProcess, word: "stop" | "gone"): void {
  const lifeline = shell.stdio[3] as Writable;
  if (lifeline.writable) lifeline.end(`${word}\n`);
}

function firstNumber(shell: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    shell.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) resolve(Number.parseInt(text, 10));
    });
    shell.once("error", reject);
    shell.once("exit", () => reject(new Error("/bin/sh could not start redis-server.")));
  });
}

type Holding = { ref(): void; unref(): void };

/**
 * Whether the child keeps the owner's event loop alive. While nothing waits for it, it does not: an owner that
 * forgets to stop Redis still ends, and Redis with it.
 */
function keepAlive(shell: ChildProcess, keeps: boolean): void {
  const pipes = shell.stdio.filter((stream) => stream !== null && stream !== undefined);
  for (const holding of [shell, ...pipes] as unknown as Holding[]) {
    if (keeps) holding.ref();
    else holding.unref();
  }
}
