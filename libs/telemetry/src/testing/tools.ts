import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where set-up for tests unpacks what a machine does not have: scripts/setup/prometheus.mjs. */
const unpacked = fileURLToPath(new URL("../../../../.drover/tools/usr/bin", import.meta.url));

type Tool = "prometheus" | "promtool" | "amtool";

/** The path of a tool. Throws with what to type where it is nowhere. */
export function toolPath(tool: Tool): string {
  const folders = [unpacked, ...(process.env.PATH ?? "").split(delimiter).filter(Boolean)];
  const found = folders.map((folder) => join(folder, tool)).find((path) => existsSync(path));
  if (found) return found;
  throw new Error(`There is no ${tool}. \`npm test\` unpacks it before the tests; or put it on the PATH.`);
}

/** Runs a tool to its end; gives its exit code and what it printed. */
export function runTool(tool: Tool, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(toolPath(tool), args, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
    });
  });
}
