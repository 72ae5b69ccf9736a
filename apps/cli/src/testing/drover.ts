import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const PROJECT = fileURLToPath(new URL("./project", import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON, a value a line. */
  values: () => Record<string, unknown>[];
}

export interface Started {
  child: ChildProcess;
  /** What was written so far, both streams. */
  said: () => string;
  ended: Promise<Ended>;
}

export interface StartOptions {
  cwd: string;
  env?: Record<string, string>;
  input?: string;
}

const running = new Set<ChildProcess>();

/** Ends what a failed test has left running. */
export function killStarted(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts the built command line as a user does. Nothing of the tests' own environment reaches it but PATH. */
export function start(args: readonly string[], { cwd, env = {}, input }: StartOptions): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  running.add(child);
  const text = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text.stdout += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text.stderr += chunk;
  });
  child.stdin?.end(input);
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => {
      running.delete(child);
      resolve({ code, ...text, values: () => jsonLines(text.stdout) });
    });
  });
  return { child, said: () => text.stdout + text.stderr, ended };
}

export const drover = (args: readonly string[], options: StartOptions): Promise<Ended> =>
  start(args, options).ended;

export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A project folder with the agent `clerk`, for one test file. */
export function createProject(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "drover-cli-"));
  cpSync(PROJECT, folder, { recursive: true });
  symlinkSync(
    fileURLToPath(new URL("../../../../node_modules", import.meta.url)),
    join(folder, "node_modules"),
  );
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Resolves once `check` gives something; throws after `timeoutMs` with what `state` says. */
export async function until<T>(
  check: () => T | undefined | false | Promise<T | undefined | false>,
  state: () => string,
  timeoutMs = 60_000,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const found = await check();
    if (found) return found;
    if (performance.now() - start > timeoutMs) throw new Error(`it did not happen: ${state()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ids of processes of a project's folder: workers and Redis that a command may have left behind. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
