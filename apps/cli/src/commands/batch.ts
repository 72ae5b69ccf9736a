import { isDroverError } from "@drover/contracts";
import type { Command } from "commander";
import { assertKnown, localAgents, redactorOf } from "../agents.js";
import { type Estimate, estimateRest } from "../batch/estimate.js";
import { exitCodeOfBatch } from "../batch/exit-code.js";
import { type PreparedBatch, prepareBatch } from "../batch/prepare.js";
import { reportJson } from "../batch/report-json.js";
import { type BatchReport, runBatch } from "../batch/run-batch.js";
import {
  commonFolder,
  printEstimate,
  printFailures,
  printRows,
  printTotals,
  printWaiting,
} from "../batch/summary.js";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { modelOf, offlineNotice } from "../offline.js";
import { jsonObject, whole } from "../options.js";
import { counted } from "../output/format.js";
import { fleetIfNeeded, slotsOf } from "../working-fleet.js";

interface BatchOptions {
  out?: string;
  limit?: number;
  resume?: string | true;
  workers?: number;
  context?: string;
}

const HELP = `
Each document becomes a run of the agent. The command ends when nothing is left to run; a document that waits for a
person has a line with the status interrupted. Without a running fleet it starts its own workers.

Examples:
  $ drover batch receipts invoices/ --out results.jsonl
  $ drover batch receipts 'scans/**/*.pdf' more.jsonl --out results.jsonl
  $ drover batch receipts invoices/ --limit 20 --out results.jsonl     a trial, with an estimate for the rest
  $ drover batch receipts invoices/ --out results.jsonl --resume       go on, after a trial, Ctrl-C or approvals
  $ drover batch receipts invoices/ --context '{"approvalThreshold": 1000}'

Exit codes: 0 at least one document succeeded or waits for a person, 1 none did, 2 a wrong path or option,
4 Redis is away, 130 interrupted (what was enqueued stays in Redis; --resume goes on).`;

export function add(program: Command): void {
  program
    .command("batch")
    .description("Runs an agent over many documents and writes one line of JSON for each.")
    .argument("<agent>", "the agent's name")
    .argument("<paths...>", "files, folders, globs or .jsonl files (each line is a document)")
    .option("-o, --out <file>", "write one JSON line for each document")
    .option("-n, --limit <number>", "only the first documents, with an estimate for the rest", whole(1, 1e9))
    .option("--resume [batch id]", "go on with a batch: finished documents are not repeated")
    .option("-w, --workers <number>", "start this many workers of its own", whole(0, 64))
    .option("--context <json>", "the agent's runtime context, as JSON or @file.json")
    .addHelpText("after", HELP)
    .action(act(batch));
}

async function batch(
  cli: Cli,
  agent: string,
  paths: string[],
  options: BatchOptions,
): Promise<ExitCode | undefined> {
  const { config, out, interruption } = cli;
  const context = await jsonObject(options.context, "--context", config.cwd);
  const agents = await localAgents(config, config.redisUrl === undefined);
  const redact = await redactorOf(config, agents);
  return withConnection(cli, { create: true, redactorOf: redact }, async (connection) => {
    const { client } = connection;
    await assertKnown(agent, agents, client);
    const { limit, resume, out: file } = options;
    const prepared = await prepareBatch(client, {
      agent,
      paths,
      cwd: config.cwd,
      out: file,
      limit,
      resume,
      context,
    });
    introduce(cli, prepared, modelOf(agent, agents));
    const fleet =
      prepared.todo.length > 0 || prepared.batch.counts.pending + prepared.batch.counts.running > 0
        ? await fleetIfNeeded(cli, connection, options.workers)
        : null;
    try {
      const report = await runBatch(cli, client, prepared, { agent, context }, fleet?.signal);
      const estimate =
        prepared.rest > 0 && report.isDone
          ? estimateRest(prepared.rest, {
              documents: prepared.todo.length,
              ms: report.ms,
              usage: report.batch.usage,
              runs: report.batch.total,
              slots: await slotsOf(connection),
            })
          : null;
      conclude(cli, prepared, report, estimate, modelOf(agent, agents));
      return report.isDone ? exitCodeOfBatch(report) : undefined;
    } catch (error) {
      if (isDroverError(error)) out.note(howToResume(cli, prepared));
      throw error;
    } finally {
      if (fleet && interruption.signal.aborted) out.note("Stopping the workers…");
      await fleet?.stop();
    }
  });
}

/** What is about to happen, on standard error. */
function introduce({ out }: Cli, prepared: PreparedBatch, model: string | null): void {
  const { batch, todo, before, rest, skipped } = prepared;
  const parts = [
    before > 0 ? `${counted(before, "document")} of it done or enqueued before` : "",
    `${counted(todo.length, "document")} to enqueue`,
    rest > 0 ? `${counted(rest, "document")} left for later` : "",
  ];
  out.note(`Batch ${batch.batchId}: ${parts.filter(Boolean).join(", ")}`);
  if (batch.paused)
    out.note(`The batch is paused: \`drover batches resume ${batch.batchId}\` lets it go on.`);
  for (const { name, reason } of skipped.slice(0, 5)) out.note(`Passed over: ${name} (${reason})`);
  if (skipped.length > 5) out.note(`Passed over: ${counted(skipped.length - 5, "more file", "more files")}`);
  const notice = offlineNotice(model);
  if (notice) out.note(notice);
}

function conclude(
  cli: Cli,
  prepared: PreparedBatch,
  report: BatchReport,
  estimate: Estimate | null,
  model: string | null,
): void {
  const { out, config } = cli;
  const { tally, waiting, isDone } = report;
  const path = prepared.file?.path ?? null;
  out.value(reportJson(report, { out: path, model, estimate }));
  if (!isDone) {
    out.note(howToResume(cli, prepared));
    return;
  }
  const common = commonFolder(tally.lines.map((line) => line.document ?? ""));
  if (path === null && tally.lines.length > 0) {
    printRows(out, tally.lines, common);
    out.line();
  }
  printTotals(out, report);
  printFailures(out, tally.failed, common);
  printWaiting(out, waiting, config.invocation, common);
  if (estimate) printEstimate(out, estimate);
  out.line();
  if (path !== null) out.line(`Results: ${path}`);
  else out.line(`Results: ${config.invocation} batches results ${report.batch.batchId}`);
  if (waiting.length > 0 || estimate) out.line(`To go on: ${resumeCommand(cli, prepared)}`);
}

function howToResume(cli: Cli, prepared: PreparedBatch): string {
  return `What was enqueued stays in Redis. To go on: ${resumeCommand(cli, prepared)}`;
}

function resumeCommand({ config }: Cli, { batch, file }: PreparedBatch): string {
  const paths = (batch.metadata.paths as string[] | undefined) ?? ["<paths>"];
  const out = file ? ["--out", file.path] : [];
  const resume = ["--resume", ...(file ? [] : [batch.batchId])];
  const words = ["batch", batch.agent, ...paths, ...out, ...resume].map(quoted);
  return `${config.invocation} ${words.join(" ")}`;
}

const quoted = (word: string): string => (/^[\w./:@%+,=-]+$/.test(word) ? word : `'${word}'`);
