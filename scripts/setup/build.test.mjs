import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { build } from "./build.mjs";
import { machine } from "./machine.fixture.mjs";

let root;

beforeEach(({ onTestFinished }) => {
  root = mkdtempSync(join(tmpdir(), "drover-build-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  write("tsconfig.json", JSON.stringify({ references: [{ path: "libs/a" }] }));
  write("tsconfig.base.json", "{}");
  write("package-lock.json", "{}");
  write("libs/a/tsconfig.json", "{}");
  write("libs/a/src/index.ts", "export {};");
});

function write(file, content) {
  mkdirSync(join(root, file, ".."), { recursive: true });
  writeFileSync(join(root, file), content);
}

/** Builds with a compiler that ends with `code`; gives the arguments that it got. */
async function builtWith(options, code = 0) {
  const system = machine();
  const calls = [];
  system.run = async (_, [, ...args]) => {
    calls.push(args.join(" "));
    return code;
  };
  await build(root, system, options).catch(() => undefined);
  return calls;
}

const EVERYTHING = ["-b --force"];
const CHANGED = ["-b"];

test("builds everything at first, then nothing until something changes", async () => {
  expect(await builtWith()).toEqual(EVERYTHING);
  expect(await builtWith()).toEqual([]);
});

test.each([
  ["a source", "libs/a/src/index.ts", CHANGED],
  ["a new source", "libs/a/src/deep/new.ts", CHANGED],
  ["what another build left", "libs/a/dist/.tsbuildinfo", CHANGED],
  ["the base options", "tsconfig.base.json", EVERYTHING],
  ["a library's options", "libs/a/tsconfig.json", EVERYTHING],
  ["the packages", "package-lock.json", EVERYTHING],
  ["a test", "libs/a/src/index.test.ts", []],
  ["another file", "README.md", []],
])("after a change of %s", async (_, file, expected) => {
  await builtWith();
  write(file, "changed");
  expect(await builtWith()).toEqual(expected);
});

test("a source that went is a change, one that was only touched is not", async () => {
  write("libs/a/src/old.ts", "");
  await builtWith();
  utimesSync(join(root, "libs/a/src/old.ts"), 1, 1);
  expect(await builtWith()).toEqual([]);
  rmSync(join(root, "libs/a/src/old.ts"));
  expect(await builtWith()).toEqual(CHANGED);
});

test("always asks the compiler when told so", async () => {
  await builtWith();
  expect(await builtWith({ always: true })).toEqual(CHANGED);
  expect(await builtWith()).toEqual([]);
});

test("a build that failed is not taken for one", async () => {
  expect(await builtWith({}, 2)).toEqual(EVERYTHING);
  expect(await builtWith()).toEqual(EVERYTHING);
  await expect(build(root, machine({ run: async () => 2 }), { always: true })).rejects.toThrow(
    /npm run setup/,
  );
});
