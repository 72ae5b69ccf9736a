import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./setup.mjs";

/**
 * Goes on as `node apps/cli/dist/main.js ...args` in this very process: a signal, an exit code and the terminal are
 * the command's own, and killing this process leaves no child behind.
 */
export async function becomeCli(args) {
  const main = join(root, "apps/cli/dist/main.js");
  if (!existsSync(main)) {
    process.stderr.write("set-up: apps/cli is not built. Type: npx tsc -b --force\n");
    process.exit(1);
  }
  process.argv = [process.execPath, main, ...args];
  await import(pathToFileURL(main).href);
}
