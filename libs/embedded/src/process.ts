import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Whether a process with this id runs on this machine, whoever owns it. */
export function isAlive(pid: number): boolean {
  // 0 and below mean process groups.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether the process is a Redis or Valkey server. Where the system does not tell its name, it may be: true. */
export async function mayBeRedis(pid: number): Promise<boolean> {
  const name = await nameOf(pid);
  return name === undefined || /(redis|valkey)/.test(name);
}

async function nameOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === "linux") return await readFile(`/proc/${pid}/comm`, "utf8");
    return (await promisify(execFile)("ps", ["-o", "comm=", "-p", String(pid)])).stdout;
  } catch {
    return undefined;
  }
}
