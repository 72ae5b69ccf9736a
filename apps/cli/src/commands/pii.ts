import { resolve } from "node:path";
import { DroverError, type InboxMessage, type Redactor } from "@drover/contracts";
import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { readStandardInput, readText, whole } from "../options.js";
import { count, counted } from "../output/format.js";
import { currentRules } from "../pii/rules.js";
import { type PlaceFound, type ScanProgress, scan as scanOf } from "../pii/scan.js";

/** Milliseconds between two lines about how far it is. */
const SAY_EVERY_MS = 5000;

export function add(program: Command): void {
  const pii = program.command("pii").description("Looks for personal data, and takes it out of messages.");
  pii
    .command("scan")
    .description("Looks through Redis for what the rules of today would cover. Shows places, never texts.")
    .option("--rules <file>", "rules as JSON, or a fleet's policy, instead of those of the project's agents")
    .option(
      "-n, --limit <number>",
      "show at most this many places; all are counted",
      whole(1, 1_000_000),
      100,
    )
    .addHelpText(
      "after",
      "\nExamples:\n  $ drover pii scan\n  $ drover pii scan --rules rules.json --json | jq -r .threadId | sort -u" +
        "\n\nExit codes: 0 nothing was found, 1 something was; 2 the rules are not valid, or there are none.",
    )
    .action(act(scan));
  pii
    .command("redact")
    .description(
      "Takes what the rules cover out of messages, one JSON a line, before they are put on the queue.",
    )
    .option("--rules <file>", "rules as JSON, or a fleet's policy, instead of those of the project's agents")
    .option("-i, --input <file>", "messages, one a line; - is standard input", "-")
    .addHelpText(
      "after",
      "\nExample:\n  $ drover pii redact --rules rules.json < messages.jsonl > clean.jsonl" +
        "\n\nExit codes: 0 all were written; 2 a message or a rule is not valid, or a rule blocks it: those before it were written.",
    )
    .action(act(redact));
}

async function scan(
  cli: Cli,
  { rules: file, limit }: { rules?: string; limit: number },
): Promise<ExitCode | undefined> {
  const { out, config, interruption } = cli;
  const rules = await currentRules(config, file);
  return withConnection(cli, {}, async ({ client }) => {
    const shown: PlaceFound[] = [];
    const byType = new Map<string, number>();
    const progress = progressOf(cli);
    let places = 0;
    for await (const place of scanOf(client.state, rules, progress.update)) {
      if (interruption.signal.aborted) return undefined;
      places += 1;
      byType.set(place.type, (byType.get(place.type) ?? 0) + place.count);
      out.value(place);
      if (shown.length < limit) shown.push(place);
    }
    const { keys, records } = progress.last();
    const looked = `Looked through ${counted(records, "record")} in ${counted(keys, "key")}.`;
    if (places === 0) {
      out.line(`Nothing that the rules cover. ${looked}`);
      return EXIT.ok;
    }
    out.table(
      [
        { head: "Kind" },
        { head: "Where" },
        { head: "Field", keep: "end" },
        { head: "Type" },
        { head: "Times" },
      ],
      shown.map((place) => [place.kind, whereOf(place), place.field, place.type, count(place.count)]),
    );
    const types = [...byType].map(([type, times]) => `${type} ${count(times)}`).join(", ");
    out.line(`\n${counted(places, "place")}: ${types}. ${looked}`);
    if (places > shown.length) out.line("--limit shows more.");
    return EXIT.failed;
  });
}

const whereOf = ({ runId, threadId, name }: PlaceFound): string =>
  [runId ? `run ${runId}` : threadId && `thread ${threadId}`, name].filter(Boolean).join(" ");

function progressOf({ out }: Cli): { update: (progress: ScanProgress) => void; last: () => ScanProgress } {
  let last: ScanProgress = { keys: 0, records: 0 };
  let saidAt = performance.now();
  return {
    update(progress) {
      last = progress;
      if (performance.now() - saidAt < SAY_EVERY_MS) return;
      saidAt = performance.now();
      out.note(`${counted(progress.records, "record")} in ${counted(progress.keys, "key")} so far`);
    },
    last: () => last,
  };
}

async function redact(
  { config }: Cli,
  { rules: file, input }: { rules?: string; input: string },
): Promise<ExitCode | undefined> {
  const [rules, { createRedactor }, { redactMessage }, text] = await Promise.all([
    currentRules(config, file),
    import("@drover/redaction"),
    import("@drover/queue"),
    input === "-" ? readStandardInput() : readText(resolve(config.cwd, input), "--input"),
  ]);
  const redactors = new Map<string | null, Redactor>();
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const message = messageIn(line);
    const agent = message.type === "run.start" ? (message.request?.agent ?? null) : null;
    const redactor =
      redactors.get(agent) ?? createRedactor({ rules: rules.of(agent), hashKey: config.piiHashKey });
    redactors.set(agent, redactor);
    process.stdout.write(`${JSON.stringify(redactMessage(message, redactor))}\n`);
  }
  return undefined;
}

/** Any JSON: whether it is a message is for the one who redacts it to say. */
function messageIn(line: string): InboxMessage {
  try {
    return JSON.parse(line) as InboxMessage;
  } catch {
    // Without the cause: it quotes the line.
    throw new DroverError("INVALID_MESSAGE", "A line of --input is not JSON. Write one message a line.");
  }
}
