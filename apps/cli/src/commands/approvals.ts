import { type Decision, DroverError, decisionSchema, parseOrThrow } from "@drover/contracts";
import { type Command, Option } from "commander";
import { z } from "zod";
import { type AnswerOf, type AnswerOptions, decide, forEachAction } from "../approvals/answering.js";
import { type AllOptions, decideAll, type Filter, waitingApprovals } from "../approvals/selection.js";
import { showApproval, tableOf } from "../approvals/view.js";
import { watchApprovals } from "../approvals/watch.js";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { gathered, jsonObject, jsonValue, whole } from "../options.js";
import { counted } from "../output/format.js";

const answers = (command: Command, argument = "<approval id>"): Command =>
  command
    .argument(argument)
    .option("--by <name>", "who decided; kept with the answer")
    .option("--comment <text>", "kept with the answer")
    .addOption(
      new Option("--on-version-mismatch <what>", "whether it holds for another version of the agent")
        .choices(["refuse", "resume"])
        .default("refuse"),
    );

const filters = (command: Command): Command =>
  command
    .option("--agent <name>", "only those of this agent")
    .option("--tool <name>", "only those about this tool");

const many = (command: Command): Command =>
  filters(answers(command, "[approval id]"))
    .option("--all", "every one that waits, or that --agent and --tool choose; asks before it does it")
    .option("--yes", "with --all: do not ask");

export function add(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("Answers questions of agents to people. The run goes on by itself after the answer.");
  filters(approvals.command("list"))
    .description("Lists what waits for a person, oldest first.")
    .option("-n, --limit <number>", "at most this many", whole(1, 100_000), 20)
    .addHelpText("after", "\nExample:\n  $ drover approvals list --agent receipts")
    .action(act(list));
  filters(approvals.command("watch"))
    .description("Shows what waits, and what comes, until Ctrl-C.")
    .addHelpText("after", "\nExample:\n  $ drover approvals watch --tool post_expense")
    .action(act(watchApprovals));
  approvals
    .command("show")
    .description("Shows a question with everything it is about.")
    .argument("<approval id>")
    .addHelpText("after", "\nExample:\n  $ drover approvals show apr_3e339c50421c8ce2af91")
    .action(act(show));
  many(approvals.command("approve"))
    .description("Lets the tool calls happen as they are.")
    .addHelpText(
      "after",
      "\nExamples:\n  $ drover approvals approve apr_3e339c50421c8ce2af91 --by ada\n  $ drover approvals approve --all --tool post_expense --by ada",
    )
    .action(act(approve));
  answers(approvals.command("edit"))
    .description("Lets the tool call happen with other arguments.")
    .option("--args <json>", "all arguments, as JSON or @file.json")
    .option("--set <name=json>", "one argument, the others stay; may be repeated", gathered)
    .option("--tool <name>", "another tool")
    .addHelpText(
      "after",
      '\nExamples:\n  $ drover approvals edit apr_3e339c… --set amount=349.9\n  $ drover approvals edit apr_3e339c… --args \'{"company": "Northlight", "amount": 349.9}\'',
    )
    .action(act(edit));
  many(approvals.command("reject"))
    .description("Refuses the tool calls; the agent is told why.")
    .option("-m, --message <text>", "what the agent is told")
    .addHelpText("after", '\nExample:\n  $ drover approvals reject apr_3e339c… -m "It was paid in March."')
    .action(act(reject));
  answers(approvals.command("decide"))
    .description("Decides each of several tool calls by itself.")
    .requiredOption("--decisions <json>", "one for each call, in their order, as JSON or @file.json")
    .addHelpText(
      "after",
      '\nExample:\n  $ drover approvals decide apr_3e339c… --decisions \'[{"type": "approve"}, {"type": "reject", "message": "Twice."}]\'',
    )
    .action(act(decideEach));
  answers(approvals.command("respond"))
    .description("Answers a question that is not about tool calls, or in place of a tool.")
    .option("-m, --message <text>", "the answer as text")
    .option("--value <json>", "the answer as JSON, or @file.json")
    .addHelpText(
      "after",
      '\nExamples:\n  $ drover approvals respond apr_3e339c… -m "The second address."\n  $ drover approvals respond apr_3e339c… --value \'{"approved": true}\'',
    )
    .action(act(respond));
}

async function list(
  cli: Cli,
  { limit, ...filter }: Filter & { limit: number },
): Promise<ExitCode | undefined> {
  const { out, config } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    let shown = 0;
    const page: Parameters<typeof tableOf>[1][number][] = [];
    for await (const approval of waitingApprovals(client, filter)) {
      page.push(approval);
      out.value(approval);
      shown += 1;
      if (shown === limit) break;
    }
    if (shown === 0) {
      out.line("Nothing waits for a person.");
      return undefined;
    }
    tableOf(out, page);
    const all = await client.approvals.count();
    out.line();
    if (all > shown) out.line(`${counted(all, "approval")} in all: --limit shows more.`);
    out.line(`Answer one: ${config.invocation} approvals approve|edit|reject|respond <approval id>`);
    return undefined;
  });
}

async function show(cli: Cli, approvalId: string): Promise<ExitCode | undefined> {
  return withConnection(cli, {}, async ({ client }) => {
    const approval = await client.approval(approvalId);
    cli.out.value(approval);
    showApproval(cli, approval);
    return undefined;
  });
}

/** One that is named, or all of a filter. */
async function oneOrAll(
  cli: Cli,
  verb: string,
  id: string | undefined,
  { all, ...options }: AllOptions & { all?: boolean },
  answerOf: AnswerOf,
): Promise<ExitCode | undefined> {
  if (id !== undefined && all) throw new DroverError("INVALID_INPUT", "Give an approval's id, or --all.");
  if (all) return decideAll(cli, verb, options, answerOf);
  if (id === undefined) throw new DroverError("INVALID_INPUT", "Name an approval, or add --all.");
  return decide(cli, id, options, answerOf);
}

type ManyOptions = AllOptions & { all?: boolean };

async function approve(
  cli: Cli,
  id: string | undefined,
  options: ManyOptions,
): Promise<ExitCode | undefined> {
  return oneOrAll(cli, "Approve", id, options, (approval) =>
    forEachAction(approval, () => ({ type: "approve" })),
  );
}

async function reject(
  cli: Cli,
  id: string | undefined,
  { message, ...options }: ManyOptions & { message?: string },
): Promise<ExitCode | undefined> {
  const decision: Decision = message === undefined ? { type: "reject" } : { type: "reject", message };
  return oneOrAll(cli, "Reject", id, options, (approval) => forEachAction(approval, () => decision));
}

interface EditOptions extends AnswerOptions {
  args?: string;
  set?: string[];
  tool?: string;
}

async function edit(cli: Cli, id: string, options: EditOptions): Promise<ExitCode | undefined> {
  const { cwd } = cli.config;
  if (options.args === undefined && options.set === undefined && options.tool === undefined) {
    throw new DroverError("INVALID_DECISION", "Nothing is edited: give --args, --set or --tool.");
  }
  const given = options.args === undefined ? null : await jsonObject(options.args, "--args", cwd);
  const changes: Record<string, unknown> = {};
  for (const pair of options.set ?? []) {
    const [, name, value] = /^([^=]+)=([\s\S]*)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) {
      throw new DroverError("INVALID_DECISION", `--set ${pair}: write name=value.`);
    }
    changes[name] = looseValue(value);
  }
  return decide(cli, id, options, (approval) => {
    if (approval.actions && approval.actions.length > 1) {
      throw new DroverError(
        "INVALID_DECISION",
        `Approval ${id} is about ${approval.actions.length} tool calls: \`drover approvals decide ${id}\` takes a decision for each.`,
      );
    }
    return forEachAction(approval, (action) => ({
      type: "edit",
      editedAction: { name: options.tool ?? action.name, args: { ...(given ?? action.args), ...changes } },
    }));
  });
}

async function decideEach(
  cli: Cli,
  id: string,
  { decisions: json, ...options }: AnswerOptions & { decisions: string },
): Promise<ExitCode | undefined> {
  const given = await jsonValue(json, "--decisions", cli.config.cwd);
  const decisions = parseOrThrow(z.array(decisionSchema).min(1), given, "--decisions", "INVALID_DECISION");
  return decide(cli, id, options, () => ({ decisions }));
}

/** JSON where it is JSON, else the text itself: `--set company=Northlight` needs no quotes within quotes. */
function looseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function respond(
  cli: Cli,
  id: string,
  { message, value, ...options }: AnswerOptions & { message?: string; value?: string },
): Promise<ExitCode | undefined> {
  if ((message === undefined) === (value === undefined)) {
    throw new DroverError("INVALID_DECISION", "Give the answer with --message, or with --value as JSON.");
  }
  const json = value === undefined ? undefined : await jsonValue(value, "--value", cli.config.cwd);
  return decide(cli, id, options, (approval) => {
    if (!approval.actions) return { value: message ?? json };
    const text = message ?? (typeof json === "string" ? json : JSON.stringify(json));
    return forEachAction(approval, () => ({ type: "respond", message: text }));
  });
}
