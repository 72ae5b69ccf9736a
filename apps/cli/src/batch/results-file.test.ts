import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ResultLine } from "./result-line.js";
import { refusedLine } from "./result-line.js";
import { ResultsFile } from "./results-file.js";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "drover-results-"));
  path = join(folder, "results.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

const line = (
  document: string,
  status: ResultLine["status"],
  finishedAt: string | null = "t1",
): ResultLine => ({
  document,
  runId: `run of ${document}`,
  threadId: "t",
  status,
  endedBy: "completed",
  output: { document },
  error: null,
  approvals: [],
  attempts: 1,
  tokens: 3,
  startedAt: null,
  finishedAt,
});

const written = (): string[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((json) => {
      const { document, status } = JSON.parse(json) as ResultLine;
      return `${document} ${status}`;
    });

it("has the promised keys in their order", async () => {
  const file = await ResultsFile.open(path, "new");
  file.write([line("a.txt", "success")]);
  await file.finish();
  expect(Object.keys(JSON.parse(readFileSync(path, "utf8")) as object)).toEqual([
    "document",
    "runId",
    "threadId",
    "status",
    "endedBy",
    "output",
    "error",
    "approvals",
    "attempts",
    "tokens",
    "startedAt",
    "finishedAt",
  ]);
});

it("has each result once, however often it is told", async () => {
  const file = await ResultsFile.open(path, "new");
  file.write([line("a.txt", "success"), line("b.txt", "error")]);
  file.write([line("a.txt", "success")]);
  await file.finish();
  expect(written()).toEqual(["a.txt success", "b.txt error"]);
});

it("replaces lines that became final, and leaves no draft behind", async () => {
  const first = await ResultsFile.open(path, "new");
  first.write([
    line("a.txt", "success"),
    line("b.txt", "interrupted", null),
    refusedLine("c.pdf", { code: "UNREADABLE_DOCUMENT", message: "no" }),
  ]);
  await first.finish();
  const second = await ResultsFile.open(path, "continue");
  expect(["a.txt", "b.txt", "c.pdf", "d.txt"].map((name) => second.isDone(name))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  second.write([line("b.txt", "success"), line("d.txt", "success"), line("c.pdf", "success")]);
  await second.finish();
  expect(written()).toEqual(["a.txt success", "b.txt success", "d.txt success", "c.pdf success"]);
  expect(readdirSync(folder)).toEqual(["results.jsonl"]);
});

it("cuts off what a killed process left of a line", async () => {
  writeFileSync(path, `${JSON.stringify(line("a.txt", "success"))}\n{"document":"b.txt","sta`);
  const file = await ResultsFile.open(path, "continue");
  file.write([line("b.txt", "success")]);
  await file.finish();
  expect(written()).toEqual(["a.txt success", "b.txt success"]);
});

it("refuses to mix batches, and a file that holds something else", async () => {
  appendFileSync(path, `${JSON.stringify(line("a.txt", "success"))}\n`);
  await expect(ResultsFile.open(path, "new")).rejects.toThrow(/has results already. Add --resume/);
  writeFileSync(path, '{"name": "not a result"}\n');
  await expect(ResultsFile.open(path, "continue")).rejects.toThrow(/line 1: this is not a result of a batch/);
  await expect(ResultsFile.open(join(folder, "none", "results.jsonl"), "new")).rejects.toThrow(
    /does its folder exist/,
  );
});

it("takes an empty file for a new one", async () => {
  writeFileSync(path, "");
  const file = await ResultsFile.open(path, "new");
  file.write([line("a.txt", "success")]);
  await file.finish();
  expect(written()).toEqual(["a.txt success"]);
});
