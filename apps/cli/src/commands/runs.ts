import { RUN_STATUSES, type Run, type RunStatus } from "@drover/contracts";
import { type Command, Option } from "commander";
import { withRules } from "../agents.js";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { whole } from "../options.js";
import { ago, count, counted, tokensOf } from "../output/format.js";
import { type Output, paintStatus } from "../output/output.js";
import { addExport } from "../run/export-runs.js";
import { followRun } from "../run/follow-run.js";
import { firstRuns, runsNewestFirst } from "../run/pages.js";
import { exitCodeOfRun, printRun } from "../run/show-run.js";
import { noteIfNobodyWorks } from "../working-fleet.js";

export function add(program: Command): void {
  const runs = program.command("runs").description("Looks after runs.");
  runs
    .command("list")
    .description("Lists runs, newest first.")
    .addOption(new Option("-s, --status <status>", "only runs with this status").choices(RUN_STATUSES))
    .option("-c, --code <code>", "only runs that failed with this code")
    .option("-a, --agent <name>", "only runs of this agent")
    .option("--taken-over", "only runs whose worker died or stood still, so that another went on with them")
    .option("-n, --limit <number>", "at most this many", whole(1, 1_000_000), 20)
    .addHelpText(
      "after",
      "\nExamples:\n  $ drover runs list --status error --code TOOL_ERROR --limit 1000\n  $ drover runs list --status interrupted --json | jq -r .runId",
    )
    .action(act(list));
  runs
    .command("show")
    .description("Shows everything about a run.")
    .argument("<run id>")
    .addHelpText("after", "\nExample:\n  $ drover runs show 5f0c2d9e-… --json | jq .output")
    .action(act(show));
  runs
    .command("cancel")
    .description("Ends runs: at once, also while a worker has them.")
    .argument("<run ids...>")
    .option("--reason <text>", "kept with the run")
    .addHelpText("after", '\nExample:\n  $ drover runs cancel 5f0c2d9e-… --reason "wrong customer"')
    .action(act(cancel));
  runs
    .command("retry")
    .description("Tries runs again that ended without success, from their last checkpoint.")
    .argument("<run ids...>")
    .addHelpText("after", "\nExample:\n  $ drover runs retry 5f0c2d9e-…")
    .action(act(retry));
  runs
    .command("tail")
    .description("Follows a run's events until it ends.")
    .argument("<run id>")
    .option("--since <event id>", "begin after this event; default: the first")
    .addHelpText(
      "after",
      "\nThe model's text and the graph's updates are there for runs with a stream mode (`drover run --stream`).\n\nExamples:\n  $ drover runs tail 5f0c2d9e-…\n  $ drover runs tail 5f0c2d9e-… --json --since 1770000000000-0\n\nExit codes: 0 the run succeeded, 1 it failed, 3 no such run, 130 interrupted (the run goes on).",
    )
    .action(act(tail));
  addExport(runs);
}

interface ListOptions {
  status?: RunStatus;
  code?: string;
  agent?: string;
  takenOver?: boolean;
  limit: number;
}

async function list(cli: Cli, options: ListOptions): Promise<ExitCode | undefined> {
  const { out } = cli;
  const { status, code, agent, takenOver, limit } = options;
  const fits = (run: Run): boolean =>
    (code === undefined || run.error?.code === code) &&
    (agent === undefined || run.agent === agent) &&
    (!takenOver || run.crashes > 0);
  return withConnection(cli, {}, async ({ client }) => {
    const { runs, more } = await firstRuns(runsNewestFirst(client, status), limit, fits);
    for (const run of runs) out.value(run);
    if (runs.length > 0) printRuns(out, runs);
    else out.line("No such run is kept.");
    noteMore(out, more);
    return undefined;
  });
}

/** Also with --json: what follows a pipe must not take a part for the whole. */
export function noteMore(out: Output, more: string | null): void {
  if (more !== null) out.note(`… and ${more}: --limit shows them.`);
}

export function printRuns(out: Output, runs: readonly Run[]): void {
  out.table(
    [
      { head: "Run", least: 36 },
      { head: "Status", least: 11 },
      { head: "Agent" },
      { head: "Document or thread", least: 18, keep: "end" },
      { head: "Error", least: 10 },
      { head: "Tries", align: "right", least: 3 },
      { head: "Tokens", align: "right", least: 6 },
      { head: "Accepted", least: 10 },
    ],
    runs.map((run) => [
      run.runId,
      run.status,
      run.agent,
      run.document ?? run.threadId,
      run.error?.code ?? "",
      count(run.attempt),
      count(tokensOf(run.usage)),
      ago(run.createdAt),
    ]),
    (text, column, _, colours) => (column === 1 ? paintStatus(text, colours) : text),
  );
}

async function show(cli: Cli, runId: string): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) => {
    const run = await (await client.run(runId)).status();
    printRun(cli.out, run, await client.waitsFor(run));
    return undefined;
  });
}

async function cancel(
  cli: Cli,
  runIds: string[],
  { reason }: { reason?: string },
): Promise<ExitCode | undefined> {
  return withConnection(cli, await withRules(cli.config, reason), async ({ client }) =>
    forEach(cli, runIds, "cancelled", (runId) => client.cancelRun(runId, reason)),
  );
}

async function retry(cli: Cli, runIds: string[]): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async (connection) => {
    const code = await forEach(cli, runIds, "retried", (runId) => connection.client.retryRun(runId));
    await noteIfNobodyWorks(cli, connection);
    return code;
  });
}

/** Does it for each id. Where there are several, one that can't be done does not keep the others from it. */
export async function forEach(
  { out }: Cli,
  ids: readonly string[],
  done: string,
  act: (id: string) => Promise<void>,
): Promise<ExitCode | undefined> {
  let failures = 0;
  for (const runId of ids) {
    try {
      await act(runId);
      out.value({ runId, [done]: true });
      out.line(`Run ${runId}: ${done}`);
    } catch (error) {
      if (ids.length === 1) throw error;
      failures += 1;
      out.note(`Run ${runId}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (failures > 0) out.note(`${counted(failures, "run")} of ${count(ids.length)} not ${done}.`);
  return failures > 0 ? EXIT.failed : EXIT.ok;
}

async function tail(cli: Cli, runId: string, { since }: { since?: string }): Promise<ExitCode | undefined> {
  const { signal } = cli.interruption;
  return withConnection(cli, {}, async ({ client }) => {
    const handle = await client.run(runId);
    const run = await followRun(cli, handle, { signal, since, stopAtInterrupt: false });
    return signal.aborted ? undefined : exitCodeOfRun(run);
  });
}
