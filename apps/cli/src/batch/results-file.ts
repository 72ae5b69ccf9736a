/**
 * The file of `--out`: JSON lines, one for each document. Lines are appended as results come, whole lines with one
 * write. A document whose result changed (it was approved, or tried again) has its old line until `finish`, which
 * then writes the file anew beside it and renames: at every moment the file holds whole lines, and after `finish`
 * each document once. What a kill in the middle of a write left is cut off by the next `open`.
 */

import { once } from "node:events";
import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync, writeSync } from "node:fs";
import { readFile, rename, rm, stat, truncate } from "node:fs/promises";
import { createInterface } from "node:readline";
import { DroverError, isFinal, type RunStatus } from "@drover/contracts";
import type { ResultLine } from "./result-line.js";

interface Known {
  /** The newest line's number in the file, from 0. */
  at: number;
  status: RunStatus;
  finishedAt: string | null;
  /** False for a document that never became a run. */
  hasRun: boolean;
}

export class ResultsFile {
  private readonly known = new Map<string, Known>();
  private lines = 0;
  private outdated = false;

  private constructor(
    readonly path: string,
    private readonly fd: number,
  ) {}

  /** Throws INVALID_INPUT where the file holds results and they are not to be continued, or something else. */
  static async open(path: string, mode: "new" | "continue"): Promise<ResultsFile> {
    const size = await stat(path).then(
      (info) => info.size,
      () => 0,
    );
    if (size > 0 && mode === "new") {
      throw new DroverError(
        "INVALID_INPUT",
        `${path} has results already. Add --resume to go on with its batch, or give another file.`,
      );
    }
    if (size > 0) await cutTornLine(path, size);
    const file = new ResultsFile(path, openForAppending(path));
    if (size > 0) await file.load();
    return file;
  }

  /** Whether the document has its final result, from a run. One that could not be read may be tried again. */
  isDone(document: string): boolean {
    const known = this.known.get(document);
    return known?.hasRun === true && isFinal(known.status);
  }

  /** Appends the results that are news. */
  write(results: readonly ResultLine[]): void {
    let text = "";
    for (const result of results) {
      if (!this.isNews(result)) continue;
      this.note(result);
      text += `${JSON.stringify(result)}\n`;
    }
    if (text) writeSync(this.fd, text);
  }

  /** Afterwards each document has one line, its newest, and the file is on the disk. */
  async finish(): Promise<void> {
    fsyncSync(this.fd);
    closeSync(this.fd);
    if (!this.outdated) return;
    const draft = `${this.path}.${process.pid}.draft`;
    const out = createWriteStream(draft, { flush: true });
    let number = 0;
    try {
      for await (const line of linesOf(this.path)) {
        const { document } = JSON.parse(line) as ResultLine;
        if (this.known.get(document ?? "")?.at === number && !out.write(`${line}\n`))
          await once(out, "drain");
        number += 1;
      }
      out.end();
      await once(out, "close");
      await rename(draft, this.path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  private isNews({ document, status, finishedAt, runId }: ResultLine): boolean {
    const known = this.known.get(document ?? "");
    if (!known) return true;
    return known.status !== status || known.finishedAt !== finishedAt || known.hasRun !== (runId !== null);
  }

  private note({ document, status, finishedAt, runId }: ResultLine): void {
    const name = document ?? "";
    this.outdated ||= this.known.has(name);
    this.known.set(name, { at: this.lines, status, finishedAt, hasRun: runId !== null });
    this.lines += 1;
  }

  private async load(): Promise<void> {
    for await (const line of linesOf(this.path)) {
      const result = parse(line);
      if (!result) {
        throw new DroverError(
          "INVALID_INPUT",
          `${this.path}, line ${this.lines + 1}: this is not a result of a batch. Is it the right file?`,
        );
      }
      this.note(result);
    }
  }
}

function openForAppending(path: string): number {
  try {
    return openSync(path, "a");
  } catch (cause) {
    throw new DroverError("INVALID_INPUT", `${path} can't be written: does its folder exist?`, { cause });
  }
}

function parse(line: string): ResultLine | null {
  try {
    const value = JSON.parse(line) as ResultLine | null;
    return typeof value?.document === "string" && typeof value.status === "string" ? value : null;
  } catch {
    return null;
  }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
}

/** Removes the part of a line that a killed process left at the end. */
async function cutTornLine(path: string, size: number): Promise<void> {
  const bytes = await tail(path, size);
  if (bytes.at(-1) === 0x0a) return;
  const whole = bytes.lastIndexOf(0x0a) + 1;
  await truncate(path, size - (bytes.length - whole));
}

/** The last bytes: more than the longest line, which holds at most a run's output. */
async function tail(path: string, size: number): Promise<Buffer> {
  const most = 64 * 1024 * 1024;
  if (size <= most) return readFile(path);
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { start: size - most })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
