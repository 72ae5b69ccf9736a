import { DroverError } from "@drover/contracts";
import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { whole } from "../options.js";
import { ago, counted } from "../output/format.js";

export function add(program: Command): void {
  const webhooks = program
    .command("webhooks")
    .description("Looks after webhooks that could not be posted, however often it was tried.");
  webhooks
    .command("list")
    .description("Lists them with the reason of the last try, newest first.")
    .option("-n, --limit <number>", "at most this many", whole(1, 100_000), 20)
    .addHelpText("after", "\nExample:\n  $ drover webhooks list")
    .action(act(list));
  webhooks
    .command("replay")
    .description("Posts them again.")
    .argument("[ids...]")
    .option("--all", "all of them")
    .addHelpText("after", "\nExample:\n  $ drover webhooks replay --all")
    .action(act(replay));
}

/** As many as BullMQ keeps. */
const ALL = 10_000;

async function list(cli: Cli, { limit }: { limit: number }): Promise<ExitCode | undefined> {
  const { out } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const found = await client.failedWebhooks.list(limit);
    for (const webhook of found) out.value(webhook);
    if (found.length === 0) {
      out.line("No webhook was given up.");
      return undefined;
    }
    out.table(
      [{ head: "Webhook", least: 40 }, { head: "Address" }, { head: "Why" }, { head: "Since", least: 12 }],
      found.map(({ id, url, reason, failedAt }) => [id, url, reason, ago(failedAt)]),
    );
    return undefined;
  });
}

async function replay(cli: Cli, ids: string[], { all }: { all?: boolean }): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) => {
    const chosen = all ? (await client.failedWebhooks.list(ALL)).map(({ id }) => id) : ids;
    if (!all && chosen.length === 0) throw new DroverError("INVALID_INPUT", "Name webhooks, or add --all.");
    for (const id of chosen) await client.failedWebhooks.replay(id);
    cli.out.line(`${counted(chosen.length, "webhook")} will be posted again.`);
    return undefined;
  });
}
