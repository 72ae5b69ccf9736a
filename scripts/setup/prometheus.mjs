import { join } from "node:path";
import { SetupError } from "./system.mjs";

/** What tests run: Prometheus, its checker of rules, and Alertmanager's. */
export const TOOLS = ["prometheus", "promtool", "amtool"];
/** Debian's packages that hold them. */
const PACKAGES = ["prometheus", "prometheus-alertmanager"];

const BY_HAND =
  "put prometheus, promtool and amtool on the PATH (macOS: brew install prometheus alertmanager)";

/** Where tools are unpacked that the machine does not have. */
export const toolsFolder = (root) => join(root, ".drover", "tools");

/**
 * Makes sure that tests find Prometheus, promtool and amtool: on the PATH, or unpacked from Debian's packages into
 * .drover/tools. They are not installed: that would start services of theirs, and needs root.
 *
 * @param {string} root
 * @param {import("./system.mjs").System} system
 */
export async function findOrUnpackPrometheus(root, system) {
  const folder = toolsFolder(root);
  if (TOOLS.every((name) => isThere(name, folder, system))) return;
  if (!system.which("apt-get") || !system.which("dpkg-deb")) {
    throw new SetupError(`Tests need Prometheus and its tools: ${BY_HAND}`);
  }
  system.say(`unpacking ${PACKAGES.join(" and ")} for tests (apt-get download)`);
  const unpack = [
    `mkdir -p "$0" && cd "$0" && rm -f -- *.deb && apt-get -o APT::Sandbox::User=root download ${PACKAGES.join(" ")}`,
    `for file in *.deb; do dpkg-deb -x "$file" . || exit 1; done`,
    "rm -f -- *.deb",
  ].join(" && ");
  const run = () => system.run("sh", ["-c", unpack, folder]);
  let code = await run();
  if (code !== 0) {
    system.say("that failed; bringing the package lists up to date and trying again");
    const update = system.isRoot ? ["apt-get", "update"] : ["sudo", "-n", "apt-get", "update"];
    await system.run(update[0], update.slice(1));
    code = await run();
  }
  if (code !== 0 || !TOOLS.every((name) => isThere(name, folder, system))) {
    throw new SetupError(
      `Prometheus could not be unpacked (exit code ${code}), see above. By hand: ${BY_HAND}`,
    );
  }
}

function isThere(name, folder, system) {
  return system.exists(join(folder, "usr", "bin", name)) || system.which(name) !== undefined;
}
