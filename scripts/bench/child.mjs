import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "../setup.mjs";

export const WORKER = join(root, "apps/worker/dist/main.js");

/**
 * Starts a Node process with an IPC channel and resolves at its first message. The child must end when the channel
 * does: then a benchmark that is killed leaves nothing behind. Its output goes to standard error.
 *
 * @param {string} file @param {Record<string, string>} settings environment variables; of this process's own it
 *   gets only PATH, HOME and NODE_OPTIONS, so that nobody's settings change what is measured
 */
export async function startChild(file, settings = {}) {
  const { PATH, HOME, NODE_OPTIONS } = process.env;
  const own = Object.entries({ PATH, HOME, NODE_OPTIONS }).filter(([, value]) => value !== undefined);
  const child = spawn(process.execPath, [file], {
    cwd: root,
    env: { ...Object.fromEntries(own), ...settings },
    stdio: ["ignore", 2, 2, "ipc"],
  });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));
  const replies = new Map();
  let asked = 0;

  const hello = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("error", reject);
    ended.then((how) => reject(new Error(`${file} ended (${how}) before it was ready, see above`)));
  });
  child.on("message", ({ id, value, error }) => {
    const { resolve, reject } = replies.get(id) ?? {};
    replies.delete(id);
    if (error === undefined) resolve?.(value);
    else reject?.(new Error(error));
  });
  ended.then((how) => {
    for (const { reject } of replies.values()) reject(new Error(`${file} ended (${how}), see above`));
  });

  return {
    hello,
    pid: child.pid,
    /** Calls what the child serves under this name. */
    ask(name, ...args) {
      return new Promise((resolve, reject) => {
        asked += 1;
        replies.set(asked, { resolve, reject });
        child.send({ id: asked, name, args });
      });
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The child's side: says `hello`, answers calls one at a time or at once, as they come, and ends with the channel. */
export function serve(hello, handlers) {
  process.once("disconnect", () => process.exit(0));
  process.once("SIGTERM", () => process.exit(0));
  process.on("message", async ({ id, name, args }) => {
    try {
      process.send({ id, value: await handlers[name](...args) });
    } catch (error) {
      process.send({ id, error: error.stack ?? String(error) });
    }
  });
  process.send(hello);
}

/** Milliseconds of the wall clock, to the microsecond, comparable between processes of this machine. */
export function wallClock() {
  return performance.timeOrigin + performance.now();
}
