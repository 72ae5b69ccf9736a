import { DroverError, parseOrThrow, threadIdSchema } from "@drover/contracts";
import type { Erased } from "@drover/queue";
import type { Subject } from "@drover/state";
import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { counted } from "../output/format.js";

export function add(program: Command): void {
  program
    .command("erase")
    .description("Removes every trace of whoever runs' metadata name. It can't be undone.")
    .requiredOption("--subject <key=value>", "a key of runs' metadata, and the value that it has")
    .addHelpText("after", "\nExample:\n  $ drover erase --subject customer=4711")
    .action(act(eraseSubject));
}

async function eraseSubject(cli: Cli, { subject }: { subject: string }): Promise<ExitCode | undefined> {
  const parsed = subjectOf(subject);
  return withConnection(cli, {}, async ({ client }) => {
    report(cli, await client.records.eraseSubject(parsed));
    return undefined;
  });
}

export async function eraseThread(cli: Cli, given: string): Promise<ExitCode | undefined> {
  const threadId = parseOrThrow(threadIdSchema, given, "The thread id");
  return withConnection(cli, {}, async ({ client }) => {
    const erased = await client.records.eraseThread(threadId);
    if (Object.values(erased).every((count) => count === 0)) {
      throw new DroverError("UNKNOWN_THREAD", `There is no trace of a thread '${threadId}'.`);
    }
    report(cli, erased);
    return undefined;
  });
}

function subjectOf(text: string): Subject {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) return { key: text.slice(0, at), value: text.slice(at + 1) };
  throw new DroverError("INVALID_INPUT", "Write the subject as key=value, as it stands in runs' metadata.");
}

function report({ out }: Cli, erased: Erased): void {
  const { threads, runs, memoryItems, deadLetters, traces } = erased;
  out.value(erased);
  out.line(
    `Erased ${counted(threads, "thread")} with ${counted(runs, "run")}, ${counted(memoryItems, "memory item")}, ` +
      `${counted(deadLetters, "dead letter")}; ${counted(traces, "key and entry", "keys and entries")} in all.`,
  );
}
