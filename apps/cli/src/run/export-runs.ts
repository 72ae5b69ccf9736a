import { resolve } from "node:path";
import { DroverError } from "@drover/contracts";
import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { milliseconds } from "../options.js";
import { counted } from "../output/format.js";
import { ExportFile } from "./export-file.js";

/** Milliseconds before their end in which runs are exported where nobody says which. */
const LAST_DAY_MS = 86_400_000;

interface ExportOptions {
  before?: number;
  olderThan?: number;
  out: string;
}

export function addExport(runs: Command): void {
  runs
    .command("export")
    .description("Writes runs that ended as JSON lines, before retention removes them.")
    .option("--before <time>", "runs that ended before this moment, ISO 8601", moment)
    .option("--older-than <time>", "runs that ended longer ago than this, like 6d", milliseconds)
    .requiredOption("-o, --out <file>", "where to; a file that is there is gone on with")
    .addHelpText(
      "after",
      "\nWithout either, those that retention removes within a day.\n\nExamples:\n  $ drover runs export --out runs.jsonl\n  $ drover runs export --older-than 2d --out runs.jsonl --json",
    )
    .action(act(exportRuns));
}

async function exportRuns(
  cli: Cli,
  { before, olderThan, out: file }: ExportOptions,
): Promise<ExitCode | undefined> {
  const { out, config, interruption } = cli;
  if (before !== undefined && olderThan !== undefined) {
    throw new DroverError("INVALID_INPUT", "Give --before or --older-than, not both.");
  }
  return withConnection(cli, {}, async ({ client }) => {
    const { indexes, retention } = client.state;
    const age = olderThan ?? Math.max(retention.runs * 1000 - LAST_DAY_MS, 0);
    const at = before ?? (await indexes.now()) - age;
    const path = resolve(config.cwd, file);
    const written = await ExportFile.open(path);
    let exported = 0;
    let skipped = 0;
    try {
      for await (const one of client.records.export(at)) {
        if (interruption.signal.aborted) break;
        if (written.write(one)) exported += 1;
        else skipped += 1;
      }
    } finally {
      written.close();
    }
    out.value({ exported, skipped, endedBefore: new Date(at).toISOString(), out: path });
    out.line(
      `${counted(exported, "run")} written to ${file}; ${counted(skipped, "run")} stood there already.`,
    );
    return undefined;
  });
}

function moment(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new DroverError("INVALID_INPUT", "--before: write a moment like 2026-03-01T12:00:00Z.");
  return at;
}
