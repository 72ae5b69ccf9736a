import { DroverError } from "@drover/contracts";
import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { whole } from "../options.js";
import { ago } from "../output/format.js";
import { oneLine } from "../output/text.js";

export function add(program: Command): void {
  const messages = program
    .command("messages")
    .description(
      "Looks after messages of other services that were refused and whose sender could not be told.",
    );
  messages
    .command("list")
    .description("Lists them with their reason, newest first.")
    .option("-n, --limit <number>", "at most this many", whole(1, 1000), 20)
    .addHelpText("after", "\nExample:\n  $ drover messages list")
    .action(act(list));
  messages
    .command("show")
    .description("Shows one with its body.")
    .argument("<id>")
    .addHelpText("after", "\nExample:\n  $ drover messages show dead_51c0a4…")
    .action(act(show));
  messages
    .command("drop")
    .description("Forgets one.")
    .argument("<id>")
    .addHelpText("after", "\nExample:\n  $ drover messages drop dead_51c0a4…")
    .action(act(drop));
}

/** As many as are kept. */
const ALL = 1000;

async function list(cli: Cli, { limit }: { limit: number }): Promise<ExitCode | undefined> {
  const { out } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const found = await client.state.deadLetters.list(client.tenant, limit);
    for (const letter of found) out.value(letter);
    if (found.length === 0) {
      out.line("No message was refused without its sender being told.");
      return undefined;
    }
    out.table(
      [{ head: "Message", least: 25 }, { head: "Code" }, { head: "Why" }, { head: "Since", least: 12 }],
      found.map(({ id, reason, at }) => [id, reason.code, reason.message, ago(at)]),
    );
    return undefined;
  });
}

async function show(cli: Cli, id: string): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) => {
    const letters = await client.state.deadLetters.list(client.tenant, ALL);
    const letter = letters.find((one) => one.id === id);
    if (!letter) throw unknown(id);
    cli.out.value(letter);
    cli.out.line(`${letter.reason.code}: ${oneLine(letter.reason.message)}\n`);
    cli.out.line(`${oneLine(letter.body)}${letter.isCut ? "…" : ""}`);
    return undefined;
  });
}

async function drop(cli: Cli, id: string): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) => {
    if (!(await client.state.deadLetters.remove(client.tenant, id))) throw unknown(id);
    cli.out.line(`Message ${id} is forgotten.`);
    return undefined;
  });
}

const unknown = (id: string): DroverError =>
  new DroverError(
    "INVALID_INPUT",
    `There is no refused message '${id}'. \`drover messages list\` shows them.`,
  );
