import { SetupError } from "./system.mjs";

/** The same names as libs/embedded looks for, which is not built yet when set-up runs. */
export const REDIS_NAMES = ["redis-server", "valkey-server"];

const BY_HAND =
  "Debian, Ubuntu: sudo apt-get install redis-server · macOS: brew install redis · or set REDIS_URL to a Redis that runs";

/**
 * Makes sure that there is a Redis: REDIS_URL, else a redis-server on the PATH, else installs one.
 * Throws SetupError with what to type where that can't be done or nobody allowed it.
 *
 * @param {import("./system.mjs").System} system
 * @param {{ yes?: boolean, forTests?: boolean }} [options] `yes`: install without asking, as under CI=true;
 *   `forTests`: REDIS_URL does not do, tests start servers of their own
 */
export async function findOrInstallRedis(system, options = {}) {
  if (system.env.REDIS_URL && !options.forTests) return;
  if (isThere(system)) return;
  const installer = chooseInstaller(system);
  await getConsent(system, installer, options);
  system.say(`installing Redis (${installer.shown})`);
  let code = await system.run(installer.command, installer.install, { env: installer.env });
  if (code !== 0 && installer.update !== undefined) {
    system.say("that failed; bringing the package lists up to date and trying again");
    await system.run(installer.command, installer.update, { env: installer.env });
    code = await system.run(installer.command, installer.install, { env: installer.env });
  }
  if (code !== 0 || !isThere(system)) {
    throw new SetupError(`Redis could not be installed (exit code ${code}), see above. By hand: ${BY_HAND}`);
  }
  if (installer.note) system.say(installer.note);
}

/**
 * How Redis is installed here.
 *
 * @param {import("./system.mjs").System} system
 * @returns {{ command: string, install: string[], update?: string[], env?: NodeJS.ProcessEnv, shown: string, note?: string }}
 */
export function chooseInstaller(system) {
  if (system.platform === "win32") {
    throw new SetupError(
      "Redis does not run on Windows itself. Use WSL (type: wsl --install) and try again there.",
    );
  }
  if (system.which("apt-get")) return aptInstaller(system);
  if (system.which("brew")) {
    return { command: "brew", install: ["install", "redis"], shown: "brew install redis" };
  }
  throw new SetupError(
    `There is no redis-server on the PATH, and no apt-get or brew to install it with. By hand: ${BY_HAND}`,
  );
}

function aptInstaller(system) {
  if (!system.isRoot && !system.which("sudo")) {
    throw new SetupError(
      "There is no redis-server on the PATH, and only root may install it. As root, type: apt-get install redis-server",
    );
  }
  // Without a terminal sudo must fail at once, not wait for a password.
  const sudo = system.isRoot
    ? []
    : ["sudo", ...(system.isTerminal ? [] : ["-n"]), "DEBIAN_FRONTEND=noninteractive"];
  const [command, ...before] = [...sudo, "apt-get"];
  const install = ["install", "-y", "--no-install-recommends", "redis-server"];
  return {
    command,
    install: [...before, ...install],
    update: [...before, "update"],
    env: { DEBIAN_FRONTEND: "noninteractive" },
    shown: `${system.isRoot ? "" : "sudo "}apt-get ${install.join(" ")}`,
    ...(system.exists("/run/systemd/system") && {
      note:
        "the package also starts a Redis service on port 6379; Drover does not use it " +
        "(to stop it, type: sudo systemctl disable --now redis-server)",
    }),
  };
}

async function getConsent(system, installer, options) {
  if (options.yes || ["true", "1"].includes(system.env.CI ?? "")) return;
  if (!system.isTerminal) {
    throw new SetupError(
      "There is no redis-server on the PATH, and without a terminal nobody can be asked whether to install it. " +
        `To go ahead (${installer.shown}), type: npm run setup -- --yes`,
    );
  }
  if (await system.ask(`set-up: there is no redis-server. Install it with "${installer.shown}"?`)) return;
  throw new SetupError(`Drover needs a Redis. By hand: ${BY_HAND}`);
}

function isThere(system) {
  return REDIS_NAMES.some((name) => system.which(name) !== undefined);
}
