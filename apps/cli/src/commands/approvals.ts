import { type Answer, type Approval, type Decision, DroverError } from "@drover/contracts";
import type { AnswerReader } from "@drover/queue";
import type { Command } from "commander";
import { localAgents } from "../agents.js";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { gathered, jsonObject, jsonValue, whole } from "../options.js";
import { ago, counted, moment } from "../output/format.js";
import { brief, oneLine } from "../output/text.js";
import { noteIfNobodyWorks } from "../working-fleet.js";

interface AnswerOptions {
  by?: string;
  comment?: string;
}

const answers = (command: Command): Command =>
  command
    .argument("<approval id>")
    .option("--by <name>", "who decided; kept with the answer")
    .option("--comment <text>", "kept with the answer");

export function add(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("Answers questions of agents to people. The run goes on by itself after the answer.");
  approvals
    .command("list")
    .description("Lists what waits for a person, oldest first.")
    .option("-n, --limit <number>", "at most this many", whole(1, 100_000), 20)
    .addHelpText("after", "\nExample:\n  $ drover approvals list")
    .action(act(list));
  approvals
    .command("show")
    .description("Shows a question with everything it is about.")
    .argument("<approval id>")
    .addHelpText("after", "\nExample:\n  $ drover approvals show apr_3e339c50421c8ce2af91")
    .action(act(show));
  answers(approvals.command("approve"))
    .description("Lets the tool calls happen as they are.")
    .addHelpText("after", "\nExample:\n  $ drover approvals approve apr_3e339c50421c8ce2af91 --by ada")
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
  answers(approvals.command("reject"))
    .description("Refuses the tool calls; the agent is told why.")
    .option("-m, --message <text>", "what the agent is told")
    .addHelpText("after", '\nExample:\n  $ drover approvals reject apr_3e339c… -m "It was paid in March."')
    .action(act(reject));
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

async function list(cli: Cli, { limit }: { limit: number }): Promise<ExitCode | undefined> {
  const { out, config } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const found = await client.listApprovals(limit);
    for (const approval of found) out.value(approval);
    if (found.length === 0) {
      out.line("Nothing waits for a person.");
      return undefined;
    }
    out.table(
      [
        { head: "Approval", least: 24 },
        { head: "Agent" },
        { head: "Question" },
        { head: "Since", least: 12 },
      ],
      found.map((approval) => [
        approval.approvalId,
        approval.agent,
        questionOf(approval),
        ago(approval.createdAt),
      ]),
    );
    const all = await client.state.indexes.countWaitingApprovals(client.tenant);
    out.line();
    if (all > found.length) out.line(`${counted(all, "approval")} in all: --limit shows more.`);
    out.line(`Answer one: ${config.invocation} approvals approve|edit|reject|respond <approval id>`);
    return undefined;
  });
}

function questionOf({ actions, value }: Approval): string {
  return actions
    ? actions.map((a) => a.description || `${a.name} ${brief(a.args)}`).join("; ")
    : brief(value);
}

async function show(cli: Cli, approvalId: string): Promise<ExitCode | undefined> {
  const { out, config } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const approval = await client.approval(approvalId);
    out.value(approval);
    out.fields([
      ["approval", approval.approvalId],
      ["status", approval.status],
      ["agent", `${approval.agent}, version ${approval.agentVersion}`],
      ["run", approval.runId],
      ["thread", oneLine(approval.threadId)],
      ["asked", `${moment(approval.createdAt)} (${ago(approval.createdAt)})`],
      ["answered", moment(approval.answeredAt)],
      ["by", approval.answer?.decidedBy && oneLine(approval.answer.decidedBy)],
      ["answer", approval.answer && brief(approval.answer)],
    ]);
    for (const action of approval.actions ?? []) {
      out.line();
      out.line(out.colours.bold(oneLine(action.description || action.name)));
      out.fields([
        ["tool", action.name],
        ...Object.entries(action.args).map(([name, value]): [string, string] => [`  ${name}`, brief(value)]),
        ["allowed", action.allowedDecisions.join(", ")],
      ]);
    }
    if (!approval.actions) out.line(`\n${JSON.stringify(approval.value, null, 2)}`);
    if (approval.status === "pending") {
      out.line(`\nAnswer it: ${config.invocation} approvals ${allowedFor(approval).join("|")} ${approvalId}`);
    }
    return undefined;
  });
}

function allowedFor({ actions }: Approval): string[] {
  return actions ? [...new Set(actions.flatMap((action) => action.allowedDecisions))] : ["respond"];
}

async function approve(cli: Cli, id: string, options: AnswerOptions): Promise<ExitCode | undefined> {
  return decide(cli, id, options, (approval) => forEachAction(approval, () => ({ type: "approve" })));
}

async function reject(
  cli: Cli,
  id: string,
  { message, ...options }: AnswerOptions & { message?: string },
): Promise<ExitCode | undefined> {
  const decision: Decision = message === undefined ? { type: "reject" } : { type: "reject", message };
  return decide(cli, id, options, (approval) => forEachAction(approval, () => decision));
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
        `Approval ${id} is about ${approval.actions.length} tool calls; approve or reject them together.`,
      );
    }
    return forEachAction(approval, (action) => ({
      type: "edit",
      editedAction: { name: options.tool ?? action.name, args: { ...(given ?? action.args), ...changes } },
    }));
  });
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

/** One decision for each tool call that waits. */
function forEachAction(
  { approvalId, actions }: Approval,
  decisionOn: (action: NonNullable<Approval["actions"]>[number]) => Decision,
): { decisions: Decision[] } {
  if (actions) return { decisions: actions.map(decisionOn) };
  throw new DroverError(
    "INVALID_DECISION",
    `Approval ${approvalId} is a question, not a tool call: answer it with \`drover approvals respond\`.`,
  );
}

async function decide(
  cli: Cli,
  approvalId: string,
  { by, comment }: AnswerOptions,
  answerOf: (approval: Approval) => Pick<Answer, never> & Record<string, unknown>,
): Promise<ExitCode | undefined> {
  const { out } = cli;
  let read: AnswerReader | undefined;
  // The agents take a while to load, which is in vain where there is no such approval.
  const readAnswer: AnswerReader = (approval, answer) => read?.(approval, answer);
  return withConnection(cli, { readAnswer }, async (connection) => {
    const { client } = connection;
    const question = await client.approval(approvalId);
    read = await answerReader(cli);
    const answer = {
      ...answerOf(question),
      ...(by === undefined ? {} : { decidedBy: by }),
      ...(comment === undefined ? {} : { comment }),
    } as Answer;
    const approval = await client.decide(approvalId, answer);
    out.value(approval);
    out.line(`Approval ${approvalId} is answered. Run ${approval.runId} goes on.`);
    await noteIfNobodyWorks(cli, connection);
    return undefined;
  });
}

/** Where the agent is at hand, edited arguments are checked against its tools. */
async function answerReader({ config }: Cli): Promise<AnswerReader> {
  const [{ validateAnswer, resumeValue }, agents] = await Promise.all([
    import("@drover/runtime"),
    localAgents(config),
  ]);
  return (approval, answer) => {
    const agent = agents?.list().find(({ name }) => name === approval.agent);
    return resumeValue(approval, validateAnswer(approval, answer, agent));
  };
}
