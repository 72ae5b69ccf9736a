import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { alone } from "./setup/alone.mjs";
import { build, howToBuild } from "./setup/build.mjs";
import { checkNodeVersion } from "./setup/node-version.mjs";
import { installPackages, packagesAreInstalled } from "./setup/packages.mjs";
import { findOrUnpackPrometheus } from "./setup/prometheus.mjs";
import { findOrInstallRedis } from "./setup/redis.mjs";
import { SetupError, thisMachine } from "./setup/system.mjs";

/** The project's folder. */
export const root = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))));

/**
 * Brings a clone to where its commands run: packages, build, Redis. Plain Node, since it runs before anything is
 * installed; does nothing, fast, when nothing changed. Throws SetupError with what to type.
 *
 * @param {object} [options]
 * @param {boolean} [options.yes] install Redis without asking, as under CI=true
 * @param {boolean} [options.forTests] also what only tests need; the build is left to the caller, which reports it
 * @param {boolean} [options.redis] default true; false leaves Redis out
 * @param {import("./setup/system.mjs").System} [options.system] by default this machine
 */
export async function setup({ yes = false, forTests = false, redis = true, system = thisMachine() } = {}) {
  checkNodeVersion(system.nodeVersion);
  const isReady = packagesAreInstalled(root) && (forTests || howToBuild(root) === "nothing");
  if (!isReady) {
    await alone(join(root, ".drover", "setup.lock"), system, async () => {
      await installPackages(root, system);
      if (!forTests) await build(root, system);
    });
  }
  if (redis) await findOrInstallRedis(system, { yes, forTests });
  if (forTests) await findOrUnpackPrometheus(root, system);
}

/** Like setup(), for a script's first step: prints what is wrong and exits with code 1 instead of throwing. */
export async function setupOrExit(options) {
  try {
    await setup(options);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`set-up: ${error.message}\n`);
    process.exit(1);
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await setupOrExit({ yes: process.argv.includes("--yes") });
  process.stderr.write("set-up: ready\n");
}
