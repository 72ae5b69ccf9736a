import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { DroverError } from "@drover/contracts";
import type { ExportedRun } from "@drover/queue";

/** One end of one run: a run that was tried again ends again. */
const keyOf = ({ run }: ExportedRun): string => `${run.runId} ${run.finishedAt}`;

/**
 * The file of `runs export`: JSON lines, one for each run, appended whole. A file that is there already is gone on
 * with: what a kill left of a line is cut off, and runs that it holds are not written again.
 */
export class ExportFile {
  private constructor(
    private readonly fd: number,
    private readonly known: Set<string>,
  ) {}

  /** Throws INVALID_INPUT where the file can't be written, or holds something else. */
  static async open(path: string): Promise<ExportFile> {
    const handle = await open(path, "a+").catch((cause: unknown) => {
      throw new DroverError("INVALID_INPUT", `${path} can't be written: does its folder exist?`, { cause });
    });
    const known = new Set<string>();
    let whole = 0;
    try {
      for await (const line of handle.readLines({ start: 0, autoClose: false })) {
        const bytes = Buffer.byteLength(line) + 1;
        const run = parse(line);
        if (run) known.add(keyOf(run));
        else if (whole + bytes <= (await handle.stat()).size) {
          throw new DroverError(
            "INVALID_INPUT",
            `${path} holds something else than exported runs. Give another file.`,
          );
        } else break;
        whole += bytes;
      }
      const { size } = await handle.stat();
      if (whole > size) await handle.appendFile("\n");
      else if (whole < size) await handle.truncate(whole);
    } finally {
      await handle.close();
    }
    return new ExportFile(openSync(path, "a"), known);
  }

  /** False where the file has it already. */
  write(exported: ExportedRun): boolean {
    const key = keyOf(exported);
    if (this.known.has(key)) return false;
    this.known.add(key);
    writeSync(this.fd, `${JSON.stringify(exported)}\n`);
    return true;
  }

  /** Afterwards everything is on the disk. */
  close(): void {
    fsyncSync(this.fd);
    closeSync(this.fd);
  }
}

function parse(line: string): ExportedRun | null {
  try {
    const value = JSON.parse(line) as ExportedRun | null;
    return typeof value?.run?.runId === "string" ? value : null;
  } catch {
    return null;
  }
}
