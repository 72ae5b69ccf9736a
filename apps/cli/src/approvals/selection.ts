import { createInterface } from "node:readline/promises";
import { type Approval, DroverError, isDroverError, isStoreFailure } from "@drover/contracts";
import type { Client } from "@drover/queue";
import type { Cli } from "../cli.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { counted } from "../output/format.js";
import { noteIfNobodyWorks } from "../working-fleet.js";
import { type AnswerOf, type AnswerOptions, answering, answerOne } from "./answering.js";
import { tableOf } from "./view.js";

/** Approvals that are asked for at once. */
const PAGE = 200;
/** Rows that are shown before the question whether all of them shall be answered. */
const SHOWN = 20;

export interface Filter {
  agent?: string;
  tool?: string;
}

/** Approvals that wait and that the filter lets through, oldest first. */
export async function* waitingApprovals(client: Client, { agent, tool }: Filter): AsyncGenerator<Approval> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.approvals.list({ limit: PAGE, offset });
    for (const approval of page) {
      const isAgents = agent === undefined || approval.agent === agent;
      const isAboutTool = tool === undefined || approval.actions?.some((action) => action.name === tool);
      if (isAgents && isAboutTool) yield approval;
    }
    if (page.length < PAGE) return;
  }
}

export interface AllOptions extends AnswerOptions, Filter {
  yes?: boolean;
}

/** Answers every approval of the filter, after it was shown and confirmed. What others answered meanwhile is left. */
export async function decideAll(
  cli: Cli,
  verb: string,
  options: AllOptions,
  answerOf: AnswerOf,
): Promise<ExitCode | undefined> {
  const { out, interruption } = cli;
  return answering(cli, async (connection, ready) => {
    const chosen: Approval[] = [];
    for await (const approval of waitingApprovals(connection.client, options)) chosen.push(approval);
    if (chosen.length === 0) {
      out.line("Nothing waits for a person that fits.");
      return undefined;
    }
    tableOf(out, chosen.slice(0, SHOWN));
    if (chosen.length > SHOWN) out.line(`… and ${chosen.length - SHOWN} more.`);
    if (!options.yes && !(await confirmed(cli, `${verb} ${counted(chosen.length, "approval")}?`))) {
      out.line("Nothing was answered.");
      return EXIT.failed;
    }
    await ready();
    let answered = 0;
    const refused: string[] = [];
    for (const question of chosen) {
      if (interruption.signal.aborted) break;
      try {
        out.value(await answerOne(connection, question, options, answerOf));
        answered += 1;
      } catch (error) {
        if (!isDroverError(error) || isStoreFailure(error)) throw error;
        refused.push(`${question.approvalId}: ${error.code}: ${error.message}`);
      }
    }
    for (const reason of refused) out.note(reason);
    out.line(`${counted(answered, "approval")} answered, ${refused.length} refused.`);
    await noteIfNobodyWorks(cli, connection);
    return refused.length > 0 ? EXIT.failed : undefined;
  });
}

async function confirmed({ interruption }: Cli, question: string): Promise<boolean> {
  if (process.stdin.isTTY !== true) {
    throw new DroverError("INVALID_INPUT", "Nobody can be asked here: add --yes to answer all of them.");
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const reply = await terminal.question(`${question} [y/N] `, { signal: interruption.signal });
    return /^y(es)?$/i.test(reply.trim());
  } catch {
    return false;
  } finally {
    terminal.close();
  }
}
