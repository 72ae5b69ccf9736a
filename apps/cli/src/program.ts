import { Command } from "commander";

const VERSION = "0.1.0";

interface CommandModule {
  add: (program: Command) => void;
}

/** Every command, and the module that adds it: only the one that is called is loaded, since some are large. */
const COMMANDS: readonly (readonly [name: string, summary: string, load: () => Promise<CommandModule>])[] = [
  ["dev", "Redis and workers on this machine", () => import("./commands/dev.js")],
  ["worker", "work on runs, in this process", () => import("./commands/worker.js")],
  ["run", "run an agent once", () => import("./commands/run.js")],
  ["batch", "run an agent over many documents", () => import("./commands/batch.js")],
  [
    "batches",
    "list, show, results, retry, cancel, pause, resume, score",
    () => import("./commands/batches.js"),
  ],
  ["runs", "list, show, cancel, retry, tail, export", () => import("./commands/runs.js")],
  ["threads", "show, erase", () => import("./commands/threads.js")],
  ["approvals", "list, show, watch, approve, edit, reject, respond", () => import("./commands/approvals.js")],
  ["queue", "stats, pause, resume", () => import("./commands/queue.js")],
  ["dead-letters", "list, show, replay, drop", () => import("./commands/dead-letters.js")],
  ["messages", "list, show, drop", () => import("./commands/messages.js")],
  ["webhooks", "list, replay", () => import("./commands/webhooks.js")],
  ["pii", "scan, redact", () => import("./commands/pii.js")],
  ["agents", "list, show", () => import("./commands/agents.js")],
  ["erase", "remove every trace of a subject", () => import("./commands/erase.js")],
  ["doctor", "what is wrong, and how to mend it", () => import("./commands/doctor.js")],
];

const HELP = `
Begin with:
  $ drover dev                                        Redis and two workers on this machine
  $ drover batch receipts invoices/ --out results.jsonl
  $ drover approvals list                             what waits for a person
  $ drover doctor                                     what is wrong, and how to mend it

Redis is REDIS_URL, else the project's own in .drover/ (the folder with langgraph.json, from here upwards).
With --json, standard output holds JSON only, one value a line; progress and notes go to standard error.

Exit codes: 0 ok, 1 failed, 2 wrong usage or input, 3 not found, 4 Redis is away, 5 waits for a person,
130 interrupted. More: docs/command-line.md`;

/** @param words the command line: commands that are not named in it are listed only; "all" loads every one */
export async function createProgram(words: readonly string[] | "all"): Promise<Command> {
  const program = new Command("drover")
    .description("Runs LangChain and LangGraph agents on a fleet of queue workers.")
    .version(VERSION)
    .option("--json", "print JSON, one value a line, and nothing else on standard output")
    .option("--verbose", "show the stack of an error (as does DROVER_DEBUG=1)")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)} (--help shows how)\n`) })
    .addHelpText("after", HELP);
  for (const [name, summary, load] of COMMANDS) {
    if (words === "all" || words.includes(name)) {
      (await load()).add(program);
      program.commands.at(-1)?.summary(summary);
    } else program.command(name).summary(summary).description(summary);
  }
  return program;
}

function oneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, "INVALID_CONFIG: ")
    .replaceAll("\n", " ");
}
