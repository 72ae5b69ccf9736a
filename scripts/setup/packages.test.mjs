import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { machine } from "./machine.fixture.mjs";
import { installPackages, isInstalled } from "./packages.mjs";

const LOCK = {
  packages: {
    "": { name: "drover" },
    "libs/a": { name: "@drover/a", version: "0.1.0" },
    "node_modules/@drover/a": { resolved: "libs/a", link: true },
    "node_modules/zod": { version: "4.0.0", integrity: "sha512-zod" },
    "node_modules/only-macos": { version: "1.0.0", integrity: "sha512-mac", optional: true },
  },
};

/** What npm writes to node_modules/.package-lock.json on a machine that is not a Mac. */
function installed(changes = {}) {
  const { "": _, "node_modules/only-macos": __, ...packages } = LOCK.packages;
  return { packages: { ...packages, ...changes } };
}

let root;

beforeEach(({ onTestFinished }) => {
  root = mkdtempSync(join(tmpdir(), "drover-packages-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
});

function write(file, content) {
  mkdirSync(join(root, file, ".."), { recursive: true });
  writeFileSync(join(root, file), JSON.stringify(content));
}

test("a missing optional package is no difference", () => {
  expect(isInstalled(LOCK, installed())).toBe(true);
});

test.each([
  ["nothing is installed", undefined],
  ["a package is missing", { packages: { "libs/a": {} } }],
  ["a version differs", installed({ "node_modules/zod": { version: "3.0.0", integrity: "sha512-zod" } })],
  ["a content differs", installed({ "node_modules/zod": { version: "4.0.0", integrity: "sha512-other" } })],
  ["there is one too many", installed({ "node_modules/left": { version: "1.0.0" } })],
])("it is not installed when %s", (_, found) => {
  expect(isInstalled(LOCK, found)).toBe(false);
});

test("runs npm ci once, with the packages that only development needs", async () => {
  write("package-lock.json", LOCK);
  const fresh = machine({ env: { NODE_ENV: "production" } });
  await installPackages(root, fresh);
  expect(fresh.ran).toEqual(["npm ci --include=dev --loglevel=error"]);
  write("node_modules/.package-lock.json", installed());
  const again = machine();
  await installPackages(root, again);
  expect([...again.ran, ...again.said]).toEqual([]);
});

test("says what to type when npm fails", async () => {
  write("package-lock.json", LOCK);
  await expect(installPackages(root, machine({ run: async () => 1 }))).rejects.toThrow(
    /exit code 1.*npm run setup/,
  );
});
