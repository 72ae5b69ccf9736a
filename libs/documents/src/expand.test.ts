import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expandInputs } from "./index.js";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "drover-expand-"));
  await mkdir(join(cwd, "in/deep/.cache"), { recursive: true });
  const files = {
    "in/b.txt": "b",
    "in/a.md": "a",
    "in/10.csv": "x",
    "in/deep/c.pdf": "c",
    "in/deep/.cache/d.txt": "d",
    "in/.hidden.txt": "h",
    "in/tool.exe": "e",
    "lines.jsonl": '"one"\n\n  \n{"text":"four"}\r\n"five"',
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(cwd, path), text);
  await symlink(join(cwd, "in"), join(cwd, "in/deep/loop"));
});

afterEach(() => rm(cwd, { recursive: true }));

const names = async (...args: string[]) =>
  (await expandInputs(args, { cwd })).documents.map(({ name }) => name);

describe("expandInputs", () => {
  it("takes a folder with all below it, by name, and reports what it passes over", async () => {
    const { documents, skipped } = await expandInputs(["in"], { cwd });
    expect(documents.map(({ name }) => name)).toEqual(["in/10.csv", "in/a.md", "in/b.txt", "in/deep/c.pdf"]);
    expect(skipped).toEqual([
      { name: "in/.hidden.txt", reason: "hidden" },
      { name: "in/deep/.cache", reason: "hidden" },
      { name: "in/deep/loop", reason: "neither a file nor a folder" },
      { name: "in/tool.exe", reason: expect.stringContaining("not one of .txt") },
    ]);
  });

  it("keeps the order of the arguments and takes no file twice", async () => {
    const { documents, skipped } = await expandInputs(["in/b.txt", "in"], { cwd });
    expect(documents.map(({ name }) => name)).toEqual(["in/b.txt", "in/10.csv", "in/a.md", "in/deep/c.pdf"]);
    expect(skipped).toContainEqual({ name: "in/b.txt", reason: "named twice" });
  });

  it("expands globs", async () => {
    expect(await names("in/**/*.{md,pdf}")).toEqual(["in/a.md", "in/deep/c.pdf"]);
    expect(await names("in/*")).toEqual(["in/10.csv", "in/a.md", "in/b.txt"]);
  });

  it("makes each line of a .jsonl file that holds something a document of its own", async () => {
    expect(await names("lines.jsonl")).toEqual(["lines.jsonl#1", "lines.jsonl#4", "lines.jsonl#5"]);
  });

  it("takes a file that is named itself, hidden or not, of whatever type", async () => {
    expect(await names("in/.hidden.txt", "in/tool.exe")).toEqual(["in/.hidden.txt", "in/tool.exe"]);
  });

  it("takes a file whose name looks like a pattern", async () => {
    await writeFile(join(cwd, "a[1].txt"), "x");
    expect(await names("a[1].txt")).toEqual(["a[1].txt"]);
  });

  it("refuses a path that does not exist and a pattern that matches nothing", async () => {
    await expect(names("nowhere.txt")).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: `There is no file or folder "nowhere.txt" in ${cwd}. Check the path.`,
    });
    await expect(names("in/*.docx")).rejects.toThrow(/No file matches "in\/\*\.docx"/);
  });

  it("finds the lines of a file of many pieces", async () => {
    const line = JSON.stringify({ text: "x".repeat(999) });
    await writeFile(join(cwd, "big.jsonl"), `${line}\n`.repeat(2000));
    const { documents } = await expandInputs(["big.jsonl"], { cwd });
    expect(documents).toHaveLength(2000);
    expect(documents.every(({ line: span }) => span && span.end - span.start === line.length)).toBe(true);
  });
});
