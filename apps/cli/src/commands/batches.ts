import { rename, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Batch, RUN_STATUSES, type RunStatus } from "@drover/contracts";
import type { Client } from "@drover/queue";
import { type Command, Option } from "commander";
import { withRules } from "../agents.js";
import { lineOf, type ResultLine } from "../batch/result-line.js";
import { scoreBatch } from "../batch/score.js";
import { printRows } from "../batch/summary.js";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { whole } from "../options.js";
import { ago, count, counted, dollars, duration, moment, percent, rate, tokensOf } from "../output/format.js";
import { noteIfNobodyWorks } from "../working-fleet.js";

const PAGE = 500;

export function add(program: Command): void {
  const batches = program.command("batches").description("Looks after batches.");
  batches
    .command("list")
    .description("Lists batches, newest first.")
    .option("-n, --limit <number>", "at most this many", whole(1, 10_000), 20)
    .addHelpText("after", "\nExample:\n  $ drover batches list --json | jq -r .batchId")
    .action(act(list));
  batches
    .command("show")
    .description("Shows a batch: how far it is, what it used.")
    .argument("<batch id>")
    .addHelpText("after", "\nExample:\n  $ drover batches show batch_4f2a9c")
    .action(act(show));
  batches
    .command("results")
    .description("Prints what came of the batch's runs, in the order in which they were enqueued.")
    .argument("<batch id>")
    .addOption(new Option("-s, --status <status>", "only runs with this status").choices(RUN_STATUSES))
    .option("-o, --out <file>", "write one JSON line for each run to this file")
    .addHelpText(
      "after",
      "\nDocuments that could not be read never became runs: they are in the batch command's own --out only.\n\nExamples:\n  $ drover batches results batch_4f2a9c --status error\n  $ drover batches results batch_4f2a9c --out results.jsonl",
    )
    .action(act(results));
  batches
    .command("retry")
    .description("Tries all runs again that ended without success, from their last checkpoint.")
    .argument("<batch id>")
    .addHelpText("after", "\nExample:\n  $ drover batches retry batch_4f2a9c")
    .action(act(retry));
  batches
    .command("cancel")
    .description("Ends all runs of the batch that have not ended.")
    .argument("<batch id>")
    .option("--reason <text>", "kept with the runs")
    .addHelpText("after", '\nExample:\n  $ drover batches cancel batch_4f2a9c --reason "wrong folder"')
    .action(act(cancel));
  batches
    .command("pause")
    .description("Starts no more runs of the batch; those that run go on.")
    .argument("<batch id>")
    .addHelpText("after", "\nExample:\n  $ drover batches pause batch_4f2a9c")
    .action(act(pause));
  batches
    .command("resume")
    .description("Lets a paused batch go on.")
    .argument("<batch id>")
    .addHelpText("after", "\nExample:\n  $ drover batches resume batch_4f2a9c")
    .action(act(resume));
  batches
    .command("score")
    .description("Compares the batch's outputs with the truth: the share of right fields.")
    .argument("<batch id>")
    .requiredOption(
      "--truth <file.jsonl>",
      'lines like {"id": "<file name without extension>", "total": "9.00", …}',
    )
    .addHelpText(
      "after",
      "\nA document that failed has no field right; one that waits for a person is left out.\n\nExample:\n  $ drover batches score batch_4f2a9c --truth truth.jsonl",
    )
    .action(act(score));
}

async function list(cli: Cli, { limit }: { limit: number }): Promise<ExitCode | undefined> {
  const { out } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const found = await client.listBatches(limit);
    for (const batch of found) out.value(batch);
    if (found.length === 0) out.line("No batch is kept. `drover batch --help` shows how to start one.");
    else {
      out.table(
        [
          { head: "Batch", least: 26 },
          { head: "Agent" },
          { head: "State", least: 9 },
          { head: "Runs", align: "right" },
          { head: "Success", align: "right" },
          { head: "Failed", align: "right" },
          { head: "Waiting", align: "right" },
          { head: "Tokens", align: "right" },
          { head: "Created", least: 12 },
        ],
        found.map((batch) => [
          batch.batchId,
          batch.agent,
          stateOf(batch),
          count(batch.total),
          count(batch.counts.success),
          count(batch.counts.error + batch.counts.timeout),
          count(batch.counts.interrupted),
          count(tokensOf(batch.usage)),
          ago(batch.createdAt),
        ]),
      );
    }
    return undefined;
  });
}

/** A batch in one word. */
function stateOf({ cancelled, paused, finishedAt, sealed, counts }: Batch): string {
  if (cancelled) return "cancelled";
  if (finishedAt !== null) return "finished";
  if (paused) return "paused";
  if (counts.pending + counts.running > 0) return "running";
  if (counts.interrupted > 0) return "waiting";
  return sealed ? "finished" : "open";
}

async function show(cli: Cli, batchId: string): Promise<ExitCode | undefined> {
  const { out } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const batch = await client.batch(batchId);
    out.value(batch);
    const { counts, usage } = batch;
    const until = batch.finishedAt ?? Date.now();
    const isOver = batch.finishedAt !== null || counts.pending + counts.running > 0;
    const ms = batch.startedAt === null || !isOver ? 0 : until - batch.startedAt;
    const ended = batch.total - counts.pending - counts.running - counts.interrupted;
    out.fields([
      ["batch", batch.batchId],
      ["agent", batch.agent],
      ["state", `${stateOf(batch)}${batch.sealed ? "" : " (more runs may be added)"}`],
      ["runs", `${count(ended)} of ${count(batch.total)} ended`],
      ...RUN_STATUSES.map((status): [string, string] => [
        `  ${status}`,
        counts[status] > 0 ? count(counts[status]) : "",
      ]),
      [
        "used",
        `${counted(tokensOf(usage), "token")}, ${counted(usage.modelCalls, "model call")}, ${counted(usage.toolCalls, "tool call")}`,
      ],
      ["price", dollars(usage)],
      ["created", `${moment(batch.createdAt)} (${ago(batch.createdAt)})`],
      ["started", moment(batch.startedAt)],
      ["finished", moment(batch.finishedAt)],
      ["took", ms > 0 ? `${duration(ms)}${ended > 0 ? ` (${rate((ended / ms) * 1000)})` : ""}` : ""],
      ["results", typeof batch.metadata.out === "string" ? batch.metadata.out : ""],
    ]);
    return undefined;
  });
}

/** The batch's runs as lines, a page at a time. */
async function* linesOf(client: Client, batchId: string, status?: RunStatus): AsyncGenerator<ResultLine[]> {
  const { total } = await client.batch(batchId);
  for (let offset = 0; offset < total; offset += PAGE) {
    const runs = await client.batchRuns(batchId, offset, PAGE);
    yield runs.filter((run) => status === undefined || run.status === status).map((run) => lineOf(run));
  }
}

async function results(
  cli: Cli,
  batchId: string,
  { status, out: file }: { status?: RunStatus; out?: string },
): Promise<ExitCode | undefined> {
  const { out, config } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    if (file !== undefined) {
      const path = resolve(config.cwd, file);
      const draft = `${path}.${process.pid}.draft`;
      const written = await writeLines(draft, linesOf(client, batchId, status));
      await rename(draft, path);
      out.value({ batchId, out: path, lines: written });
      out.line(`${counted(written, "line")} in ${path}`);
      return undefined;
    }
    for await (const lines of linesOf(client, batchId, status)) {
      for (const line of lines) out.value(line);
      if (!out.json && lines.length > 0) printRows(out, lines);
    }
    return undefined;
  });
}

async function writeLines(path: string, pages: AsyncGenerator<ResultLine[]>): Promise<number> {
  let written = 0;
  await writeFile(path, "");
  for await (const lines of pages) {
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), {
      flag: "a",
      flush: true,
    });
    written += lines.length;
  }
  return written;
}

async function retry(cli: Cli, batchId: string): Promise<ExitCode | undefined> {
  const { out, config } = cli;
  return withConnection(cli, {}, async (connection) => {
    const retried = await connection.client.retryBatch(batchId);
    out.value({ batchId, retried });
    out.line(`${counted(retried, "run")} of ${batchId} will be tried again.`);
    if (retried > 0) await noteIfNobodyWorks(cli, connection);
    if (retried > 0) out.note(`See how it goes: ${config.invocation} batches show ${batchId}`);
    return undefined;
  });
}

async function cancel(
  cli: Cli,
  batchId: string,
  { reason }: { reason?: string },
): Promise<ExitCode | undefined> {
  return withConnection(cli, await withRules(cli.config, reason), async ({ client }) => {
    const cancelled = await client.cancelBatch(batchId, reason);
    cli.out.value({ batchId, cancelled });
    cli.out.line(`${counted(cancelled, "run")} of ${batchId} cancelled.`);
    return undefined;
  });
}

async function pause(cli: Cli, batchId: string): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) => {
    await client.pauseBatch(batchId);
    cli.out.value({ batchId, paused: true });
    cli.out.line(`Batch ${batchId} is paused: what runs goes on, nothing new starts.`);
    return undefined;
  });
}

async function resume(cli: Cli, batchId: string): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async (connection) => {
    const resumed = await connection.client.resumeBatch(batchId);
    cli.out.value({ batchId, paused: false, resumed });
    cli.out.line(`Batch ${batchId} goes on.`);
    await noteIfNobodyWorks(cli, connection);
    return undefined;
  });
}

async function score(cli: Cli, batchId: string, { truth }: { truth: string }): Promise<ExitCode | undefined> {
  const { out, config } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const result = await scoreBatch(linesOf(client, batchId), resolve(config.cwd, truth));
    out.value({ batchId, ...result });
    const { fields, share, documents, failed, waiting, withoutTruth } = result;
    out.table(
      [{ head: "Field" }, { head: "Right", align: "right" }, { head: "Share", align: "right" }],
      [
        ...Object.entries(fields).map(([name, { right, share: of }]) => [name, count(right), percent(of)]),
        ["all fields", "", percent(share)],
      ],
    );
    out.line();
    out.line(
      [
        `${counted(documents, "document")} compared`,
        failed > 0 ? `${count(failed)} of them failed` : "",
        waiting > 0 ? `${count(waiting)} wait for a person and were left out` : "",
        withoutTruth > 0 ? `${count(withoutTruth)} have no truth` : "",
      ]
        .filter(Boolean)
        .join(", "),
    );
    return undefined;
  });
}
