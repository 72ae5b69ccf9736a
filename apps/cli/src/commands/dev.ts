import { join } from "node:path";
import { DroverError } from "@drover/contracts";
import type { AgentRegistry } from "@drover/runtime";
import type { Command } from "commander";
import { assertKnown, localAgents, redactorOf } from "../agents.js";
import { exitCodeOfBatch } from "../batch/exit-code.js";
import { prepareBatch } from "../batch/prepare.js";
import { reportJson } from "../batch/report-json.js";
import { type BatchReport, runBatch } from "../batch/run-batch.js";
import { commonFolder, printFailures, printRows, printTotals, printWaiting } from "../batch/summary.js";
import { watchBatch } from "../batch/watch.js";
import { act, type Cli } from "../cli.js";
import { type Connection, withConnection } from "../connection.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { Fleet } from "../fleet.js";
import { modelOf, offlineNotice } from "../offline.js";
import { whole } from "../options.js";
import { counted } from "../output/format.js";

interface DevOptions {
  workers: number;
  batch?: string[];
  once?: boolean;
  stay?: boolean;
}

const HELP = `
Starts a private Redis in .drover/ (or uses REDIS_URL) and workers for the agents of langgraph.json. On a terminal it
stays until Ctrl-C, which lets the workers hand over what they have and stops Redis. What was accepted stays in
.drover/ and goes on at the next start.

Examples:
  $ drover dev                                                 from a second terminal: drover run, drover batch
  $ drover dev --workers 4
  $ drover dev --batch receipts examples/receipts/documents    run these documents, show what came of them
  $ drover dev --batch receipts examples/receipts/documents --once

Exit codes: 0 ended, 1 no document of the batch succeeded, 2 the agents or a path are not valid, 4 Redis did not start,
130 interrupted while documents were running.`;

export function add(program: Command): void {
  program
    .command("dev")
    .description("Runs everything on this machine: Redis, workers, and the documents of a batch.")
    .option("-w, --workers <number>", "worker processes", whole(1, 64), 2)
    .option("--batch <agent and paths...>", "run an agent over these documents")
    .option("--once", "end when the batch is done, also on a terminal")
    .option("--stay", "stay until a signal, also without a terminal")
    .addHelpText("after", HELP)
    .action(act(dev));
}

async function dev(cli: Cli, options: DevOptions): Promise<ExitCode | undefined> {
  const { config, out, interruption } = cli;
  const [agentName, ...paths] = options.batch ?? [];
  if (agentName !== undefined && paths.length === 0) {
    throw new DroverError(
      "INVALID_CONFIG",
      "--batch takes an agent and at least one path: --batch receipts invoices/",
    );
  }
  const loading = agentsOf(cli);
  // Waited for below; what it throws until then is not forgotten.
  loading.catch(() => {});
  let redact: Awaited<ReturnType<typeof redactorOf>> | undefined;
  // Nothing is enqueued before the agents are loaded.
  const redactor = (name: string) => {
    if (!redact) throw new DroverError("INTERNAL", "The agents are not loaded yet.");
    return redact(name);
  };
  return withConnection(cli, { create: true, redactorOf: redactor }, async (connection) => {
    out.note(`Redis: ${connection.redisInWords}`);
    out.note(`Starting ${counted(options.workers, "worker")}…`);
    const starting = Fleet.start({
      count: options.workers,
      config,
      redisUrl: connection.redisUrl,
      logLevel: "info",
      onNote: (text) => out.note(text),
    });
    const [agents, fleet] = await bothOrNone(loading, starting);
    interruption.onEmergency(() => fleet.kill());
    try {
      redact = await redactorOf(config, agents);
      introduce(cli, agents, fleet);
      const report =
        agentName === undefined ? null : await sampleBatch(cli, connection, agents, fleet, agentName, paths);
      if (report && !report.isDone) return undefined;
      const stays = options.stay === true || (!options.once && process.stdout.isTTY === true);
      if (stays) await stay(cli, connection, fleet, report);
      return report ? exitCodeOfBatch(report) : EXIT.ok;
    } finally {
      if (interruption.signal.aborted) out.note("Stopping: workers hand over what they have in hand…");
      await fleet.stop();
    }
  });
}

async function agentsOf({ config }: Cli): Promise<AgentRegistry> {
  const agents = await localAgents(config, true);
  if (agents) return agents;
  throw new DroverError(
    "INVALID_AGENT",
    `There is no langgraph.json in ${config.root} or above: write one that names your agents, for example {"graphs": {"clerk": "./clerk.ts:agent"}}.`,
  );
}

/** The agents' own complaint comes first: the workers' is the same. */
async function bothOrNone(
  loading: Promise<AgentRegistry>,
  starting: Promise<Fleet>,
): Promise<[AgentRegistry, Fleet]> {
  const [agents, fleet] = await Promise.allSettled([loading, starting]);
  if (agents.status === "fulfilled" && fleet.status === "fulfilled") return [agents.value, fleet.value];
  if (fleet.status === "fulfilled") await fleet.value.stop();
  throw agents.status === "rejected" ? agents.reason : (fleet as PromiseRejectedResult).reason;
}

function introduce({ out }: Cli, agents: AgentRegistry, fleet: Fleet): void {
  out.note(`${counted(fleet.urls.length, "worker")} ready; logs in ${fleet.logFolder}, metrics at:`);
  for (const url of fleet.urls) out.note(`  ${url}/metrics`);
  for (const { name, version } of agents.list()) {
    const model = modelOf(name, agents);
    out.note(`Agent ${name}, version ${version}${model ? `, model ${model}` : ""}`);
  }
  for (const notice of new Set(agents.list().map(({ name }) => offlineNotice(modelOf(name, agents))))) {
    if (notice) out.note(out.noteColours.yellow(notice));
  }
}

async function sampleBatch(
  cli: Cli,
  { client }: Connection,
  agents: AgentRegistry,
  fleet: Fleet,
  agent: string,
  paths: string[],
): Promise<BatchReport> {
  const { out, config } = cli;
  await assertKnown(agent, agents, client);
  const prepared = await prepareBatch(client, { agent, paths, cwd: config.cwd, context: {} });
  out.note(`Batch ${prepared.batch.batchId}: ${counted(prepared.todo.length, "document")}`);
  const report = await runBatch(cli, client, prepared, { agent, context: {} }, fleet.signal);
  out.value(reportJson(report, { out: null, model: modelOf(agent, agents), estimate: null }));
  if (!report.isDone) return report;
  const { tally, waiting } = report;
  const common = commonFolder(tally.lines.map((line) => line.document ?? ""));
  out.line();
  printRows(out, tally.lines, common);
  out.line();
  printTotals(out, report);
  printFailures(out, tally.failed, common);
  printWaiting(out, waiting, config.invocation, common);
  const shown = waiting.reduce((sum, { approvals }) => sum + approvals.length, 0);
  const earlier = (await client.state.indexes.countWaitingApprovals(client.tenant)) - shown;
  if (earlier > 0) {
    out.line(
      `  ${counted(earlier, "approval")} of earlier runs wait too: ${config.invocation} approvals list`,
    );
  }
  return report;
}

async function stay(
  cli: Cli,
  { client }: Connection,
  fleet: Fleet,
  report: BatchReport | null,
): Promise<void> {
  const { out, config, interruption } = cli;
  const signal = AbortSignal.any([interruption.signal, fleet.signal]);
  out.note("");
  out.note(`Ready. In a second terminal: ${config.invocation} run <agent> --input "…" --wait. Ctrl-C ends.`);
  out.note(`The workers' logs: tail -f ${join(fleet.logFolder, "worker-1.log")}`);
  if (report) await watchBatch(cli, client, report, signal);
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      // A timer, since a promise alone does not keep the process alive.
      const alive = setInterval(() => {}, 60_000);
      signal.addEventListener("abort", () => {
        clearInterval(alive);
        resolve();
      });
    });
  }
  fleet.signal.throwIfAborted();
}
