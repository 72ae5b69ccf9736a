import { DEAD_LETTER_CODES, DroverError, type Run } from "@drover/contracts";
import type { Client } from "@drover/queue";
import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { whole } from "../options.js";
import { ago } from "../output/format.js";
import { firstRuns, runsNewestFirst } from "../run/pages.js";
import { printRun } from "../run/show-run.js";
import { noteIfNobodyWorks } from "../working-fleet.js";
import { forEach, noteMore } from "./runs.js";

const isDead = (run: Run): boolean =>
  run.status === "error" && run.error !== null && DEAD_LETTER_CODES.has(run.error.code);

export function add(program: Command): void {
  const letters = program
    .command("dead-letters")
    .description(
      "Looks after runs that were set aside: their worker died of them, or no worker has their agent.",
    );
  letters
    .command("list")
    .description("Lists them, newest first.")
    .option("-n, --limit <number>", "at most this many", whole(1, 1_000_000), 20)
    .addHelpText("after", "\nExample:\n  $ drover dead-letters list")
    .action(act(list));
  letters
    .command("show")
    .description("Shows one.")
    .argument("<run id>")
    .addHelpText("after", "\nExample:\n  $ drover dead-letters show 5f0c2d9e-…")
    .action(act(show));
  letters
    .command("replay")
    .description("Tries them again from their last checkpoint, once the cause is mended.")
    .argument("[run ids...]")
    .option("--all", "all of them")
    .addHelpText(
      "after",
      "\nExamples:\n  $ drover dead-letters replay 5f0c2d9e-…\n  $ drover dead-letters replay --all",
    )
    .action(act(replay));
  letters
    .command("drop")
    .description("Forgets them: they are in no list any more. A batch still counts them as failed.")
    .argument("[run ids...]")
    .option("--all", "all of them")
    .addHelpText("after", "\nExample:\n  $ drover dead-letters drop 5f0c2d9e-…")
    .action(act(drop));
}

const deadRuns = (client: Client, limit: number) =>
  firstRuns(runsNewestFirst(client, "error"), limit, isDead);

async function list(cli: Cli, { limit }: { limit: number }): Promise<ExitCode | undefined> {
  const { out } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const { runs: found, more } = await deadRuns(client, limit);
    for (const run of found) out.value(run);
    if (found.length === 0) out.line("There are no dead letters.");
    else {
      out.table(
        [
          { head: "Run", least: 36 },
          { head: "Code", least: 20 },
          { head: "Agent" },
          { head: "Document or thread", keep: "end" },
          { head: "Since", least: 12 },
        ],
        found.map((run) => [
          run.runId,
          run.error?.code ?? "",
          run.agent,
          run.document ?? run.threadId,
          ago(run.finishedAt),
        ]),
      );
      out.line(`\nOnce the cause is mended: ${cli.config.invocation} dead-letters replay <run id>`);
    }
    noteMore(out, more);
    return undefined;
  });
}

async function show(cli: Cli, runId: string): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) => {
    const run = await (await client.run(runId)).status();
    if (!isDead(run)) cli.out.note(`Run ${runId} is no dead letter: it is ${run.status}.`);
    printRun(cli.out, run);
    return isDead(run) ? EXIT.ok : EXIT.notFound;
  });
}

interface Chosen {
  all?: boolean;
}

/** Throws INVALID_CONFIG where none was named. */
async function chosen(client: Client, runIds: string[], { all }: Chosen): Promise<string[]> {
  if (all) return (await deadRuns(client, Number.POSITIVE_INFINITY)).runs.map((run) => run.runId);
  if (runIds.length > 0) return runIds;
  throw new DroverError("INVALID_CONFIG", "Name the runs, or use --all.");
}

/** Throws ILLEGAL_TRANSITION for any other run: these commands must not touch those. */
async function assertDead(client: Client, runId: string): Promise<void> {
  const run = await (await client.run(runId)).status();
  if (isDead(run)) return;
  throw new DroverError(
    "ILLEGAL_TRANSITION",
    `Run ${runId} is no dead letter: it is ${run.status}. \`drover runs retry\` tries any failed run again.`,
  );
}

async function replay(cli: Cli, runIds: string[], options: Chosen): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async (connection) => {
    const { client } = connection;
    const code = await forEach(cli, await chosen(client, runIds, options), "replayed", async (runId) => {
      await assertDead(client, runId);
      await client.retryRun(runId);
    });
    await noteIfNobodyWorks(cli, connection);
    return code;
  });
}

async function drop(cli: Cli, runIds: string[], options: Chosen): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) =>
    forEach(cli, await chosen(client, runIds, options), "dropped", async (runId) => {
      await assertDead(client, runId);
      await client.forgetRun(runId);
    }),
  );
}
