import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline/promises";

/** What set-up can't mend by itself. The message says what to type. */
export class SetupError extends Error {
  name = "SetupError";
}

/**
 * What set-up asks of the machine; tests hand in another.
 *
 * @typedef {object} System
 * @property {NodeJS.ProcessEnv} env
 * @property {NodeJS.Platform} platform
 * @property {string} nodeVersion without the `v`
 * @property {boolean} isRoot
 * @property {boolean} isTerminal whether somebody can be asked
 * @property {(file: string) => boolean} exists
 * @property {(name: string) => string | undefined} which the path of a program on the PATH
 * @property {(command: string, args: string[], options?: { cwd?: string, env?: NodeJS.ProcessEnv }) => Promise<number>} run
 *   the exit code; 127 when there is no such program
 * @property {(question: string) => Promise<boolean>} ask
 * @property {(line: string) => void} say
 */

/**
 * This machine. Everything goes to standard error, also what the started programs print: standard output belongs
 * to the command that runs after set-up.
 *
 * @returns {System}
 */
export function thisMachine() {
  return {
    env: process.env,
    platform: process.platform,
    nodeVersion: process.versions.node,
    isRoot: process.getuid?.() === 0,
    isTerminal: Boolean(process.stdin.isTTY && process.stderr.isTTY),
    exists: existsSync,
    which: (name) => which(name, process.env.PATH),
    run,
    ask,
    say: (line) => process.stderr.write(`set-up: ${line}\n`),
  };
}

/** @param {string} name @param {string | undefined} path @returns {string | undefined} */
export function which(name, path) {
  const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find(isExecutableFile);
}

function isExecutableFile(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["inherit", 2, 2],
    });
    child.once("error", () => resolve(127));
    child.once("close", (code) => resolve(code ?? 1));
  });
}

async function ask(question) {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
