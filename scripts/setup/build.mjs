import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SetupError } from "./system.mjs";

/** Goes with the packages that the build depends on: npm ci removes both. */
const STAMP = "node_modules/.drover-build.json";

/**
 * Builds with `tsc -b` what changed since the last build; `always` asks the compiler even when nothing did.
 *
 * @param {string} root @param {import("./system.mjs").System} system @param {{ always?: boolean }} [options]
 */
export async function build(root, system, options = {}) {
  const how = howToBuild(root);
  if (how === "nothing" && !options.always) return;
  // Taken now: what is changed while the compiler runs must count as changed the next time.
  const { settings, sources } = stampOf(root);
  if (!options.always) system.say("building (tsc -b)");
  // tsc -b does not see that a base configuration or an installed package changed.
  const args = ["-b", ...(how === "everything" ? ["--force"] : [])];
  const code = await system.run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...args], {
    cwd: root,
  });
  if (code !== 0)
    throw new SetupError("The build failed, see above. When that is mended, type: npm run setup");
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(join(root, STAMP), JSON.stringify({ ...stampOf(root), settings, sources }));
}

/** @returns {"nothing" | "changed" | "everything"} what has to be built, by the stamp of the last build */
export function howToBuild(root) {
  if (!existsSync(join(root, STAMP))) return "everything";
  const before = JSON.parse(readFileSync(join(root, STAMP), "utf8"));
  const now = stampOf(root);
  if (before.settings !== now.settings) return "everything";
  return before.sources === now.sources && before.built === now.built ? "nothing" : "changed";
}

/**
 * What a build depends on, as hashes of contents (a checkout touches files without changing them), and what it
 * left: another build since then counts as a change.
 */
export function stampOf(root) {
  const projects = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")).references.map(
    ({ path }) => path,
  );
  const ofProjects = (name) => projects.map((project) => join(project, name));
  return {
    settings: hashOfFiles(root, [
      "tsconfig.json",
      "tsconfig.base.json",
      "package-lock.json",
      ...ofProjects("tsconfig.json"),
      ...ofProjects("package.json"),
    ]),
    sources: hashOfFiles(
      root,
      ofProjects("src").flatMap((folder) => sourcesIn(root, folder)),
    ),
    built: ofProjects("dist/.tsbuildinfo")
      .map((file) => (existsSync(join(root, file)) ? statSync(join(root, file)).mtimeMs : 0))
      .join(),
  };
}

function sourcesIn(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.[a-z]+$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function hashOfFiles(root, files) {
  const hash = createHash("sha256");
  for (const file of files) {
    const path = join(root, file);
    hash.update(`${file}\0`);
    if (existsSync(path)) hash.update(readFileSync(path));
    hash.update("\0");
  }
  return hash.digest("hex");
}
