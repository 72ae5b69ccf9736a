import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SetupError } from "./system.mjs";

export function packagesAreInstalled(root) {
  const lock = readJson(join(root, "package-lock.json"));
  // npm keeps a list of what it installed; it writes it last, so a broken-off install has none.
  const installed = readJson(join(root, "node_modules", ".package-lock.json"));
  if (lock !== undefined) return isInstalled(lock, installed);
  throw new SetupError("package-lock.json is missing or broken. Type: git checkout package-lock.json");
}

/**
 * Runs `npm ci` when what stands in node_modules is not what package-lock.json asks for.
 *
 * @param {string} root @param {import("./system.mjs").System} system
 */
export async function installPackages(root, system) {
  if (packagesAreInstalled(root)) return;
  system.say("installing packages (npm ci)");
  // The caller may be `npm --silent` or have NODE_ENV=production; neither is meant for this.
  const code = await system.run("npm", ["ci", "--include=dev", "--loglevel=error"], { cwd: root });
  if (code !== 0) {
    throw new SetupError(
      `npm ci failed (exit code ${code}), see above. When that is mended, type: npm run setup`,
    );
  }
}

/**
 * Whether the installed packages are those of the lock file. Optional ones (another platform's binaries) may be
 * missing.
 */
export function isInstalled(lock, installed) {
  if (installed === undefined) return false;
  const wanted = Object.entries(lock.packages).filter(([path]) => path !== "");
  const missing = wanted.some(([path, entry]) => {
    const found = installed.packages[path];
    return found === undefined ? !isOptional(entry) : identity(found) !== identity(entry);
  });
  return !missing && Object.keys(installed.packages).every((path) => lock.packages[path] !== undefined);
}

function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true;
}

function identity({ version, integrity, link, resolved }) {
  return JSON.stringify(link ? { link, resolved } : { version, integrity });
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
