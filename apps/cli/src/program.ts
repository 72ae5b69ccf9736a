import { Command } from "commander";
import { addAgentsCommand } from "./commands/agents.js";
import { addApprovalsCommand } from "./commands/approvals.js";
import { addBatchCommand } from "./commands/batch.js";
import { addBatchesCommand } from "./commands/batches.js";
import { addDeadLettersCommand } from "./commands/dead-letters.js";
import { addDevCommand } from "./commands/dev.js";
import { addDoctorCommand } from "./commands/doctor.js";
import { addQueueCommand } from "./commands/queue.js";
import { addRunCommand } from "./commands/run.js";
import { addRunsCommand } from "./commands/runs.js";
import { addThreadsCommand } from "./commands/threads.js";
import { addWorkerCommand } from "./commands/worker.js";

const VERSION = "0.1.0";

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

export function createProgram(): Command {
  const program = new Command("drover")
    .description("Runs LangChain and LangGraph agents on a fleet of queue workers.")
    .version(VERSION)
    .option("--json", "print JSON, one value a line, and nothing else on standard output")
    .option("--verbose", "show the stack of an error (as does DROVER_DEBUG=1)")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      outputError: (text, write) =>
        write(
          `${text
            .trim()
            .replace(/^error: /, "INVALID_CONFIG: ")
            .replaceAll("\n", " ")} (--help shows how)\n`,
        ),
    })
    .addHelpText("after", HELP);
  const commands = [
    addDevCommand,
    addWorkerCommand,
    addRunCommand,
    addBatchCommand,
    addBatchesCommand,
    addRunsCommand,
    addThreadsCommand,
    addApprovalsCommand,
    addQueueCommand,
    addDeadLettersCommand,
    addAgentsCommand,
    addDoctorCommand,
  ];
  for (const add of commands) add(program);
  return program;
}
