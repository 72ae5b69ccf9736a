import { RUN_STATUSES } from "@drover/contracts";
import type { Client, PauseScope } from "@drover/queue";
import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { ago, count, counted } from "../output/format.js";
import { noteIfNobodyWorks } from "../working-fleet.js";

interface ScopeOptions {
  agent?: string;
  batch?: string;
}

export function add(program: Command): void {
  const queue = program.command("queue").description("Looks after the queue and who works on it.");
  queue
    .command("stats")
    .description("Shows what waits and runs, and who works.")
    .addHelpText("after", "\nExample:\n  $ watch drover queue stats")
    .action(act(stats));
  queue
    .command("pause")
    .description("Starts nothing more: of everything, of an agent or of a batch. What runs goes on.")
    .option("--agent <name>", "only this agent's runs")
    .option("--batch <batch id>", "only this batch's runs")
    .addHelpText("after", "\nExamples:\n  $ drover queue pause\n  $ drover queue pause --agent receipts")
    .action(act(pause));
  queue
    .command("resume")
    .description("Lets what was paused go on.")
    .option("--agent <name>", "only this agent's runs")
    .option("--batch <batch id>", "only this batch's runs")
    .addHelpText("after", "\nExample:\n  $ drover queue resume")
    .action(act(resume));
}

async function statsOf(client: Client) {
  const { state, tenant, queue } = client;
  const [counts, perStatus, workers, paused, approvals] = await Promise.all([
    queue.counts(),
    Promise.all(RUN_STATUSES.map((status) => state.indexes.count(tenant, status))),
    state.workers.list(),
    state.workers.pauses(),
    state.indexes.countWaitingApprovals(tenant),
  ]);
  const runs = Object.fromEntries(RUN_STATUSES.map((status, i) => [status, perStatus[i] ?? 0]));
  return {
    queue: counts,
    runs,
    approvals,
    paused,
    workers: workers.map(({ worker, description }) => ({ worker, ...description })),
  };
}

async function stats(cli: Cli): Promise<ExitCode | undefined> {
  const { out } = cli;
  return withConnection(cli, {}, async ({ client, redisInWords }) => {
    const found = await statsOf(client);
    out.value(found);
    const { queue, runs, workers } = found;
    const slots = workers.reduce((sum, worker) => sum + worker.concurrency, 0);
    const taken = workers.reduce((sum, worker) => sum + worker.active, 0);
    out.fields([
      ["Redis", redisInWords],
      [
        "queue",
        `${count(queue.waiting)} waiting, ${count(queue.delayed)} delayed, ${count(queue.active)} with workers`,
      ],
      [
        "runs",
        RUN_STATUSES.filter((s) => runs[s])
          .map((s) => `${count(runs[s] ?? 0)} ${s}`)
          .join(", ") || "none",
      ],
      ["approvals", found.approvals > 0 ? `${count(found.approvals)} waiting` : ""],
      ["paused", found.paused.join(", ")],
      [
        "workers",
        workers.length > 0 ? `${count(workers.length)}, ${taken} of ${counted(slots, "slot")} taken` : "none",
      ],
    ]);
    if (workers.length > 0) {
      out.line();
      out.table(
        [
          { head: "Worker", least: 20 },
          { head: "Busy", align: "right", least: 6 },
          { head: "Started", least: 12 },
          { head: "Agents" },
        ],
        workers.map((w) => [w.worker, `${w.active}/${w.concurrency}`, ago(w.startedAt), w.agents.join(", ")]),
      );
    }
    return undefined;
  });
}

async function pause(cli: Cli, options: ScopeOptions): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) => {
    for (const scope of scopesOf(options)) {
      if (scope.startsWith("batch:")) await client.pauseBatch(scope.slice("batch:".length));
      else await client.pause(scope);
      cli.out.value({ scope, paused: true });
      cli.out.line(`Paused: ${inWords(scope)}. What runs goes on, nothing new starts.`);
    }
    return undefined;
  });
}

async function resume(cli: Cli, options: ScopeOptions): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async (connection) => {
    const { client } = connection;
    for (const scope of scopesOf(options)) {
      const resumed = scope.startsWith("batch:")
        ? await client.resumeBatch(scope.slice("batch:".length))
        : await client.resume(scope);
      cli.out.value({ scope, paused: false, resumed });
      cli.out.line(`Goes on: ${inWords(scope)}, ${counted(resumed, "run")} of it put aside meanwhile.`);
    }
    await noteIfNobodyWorks(cli, connection);
    return undefined;
  });
}

function scopesOf({ agent, batch }: ScopeOptions): PauseScope[] {
  const scopes: PauseScope[] = [];
  if (agent !== undefined) scopes.push(`agent:${agent}`);
  if (batch !== undefined) scopes.push(`batch:${batch}`);
  return scopes.length > 0 ? scopes : ["all"];
}

const inWords = (scope: PauseScope): string => (scope === "all" ? "everything" : scope.replace(":", " "));
