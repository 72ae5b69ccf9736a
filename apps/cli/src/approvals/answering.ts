import { type Answer, type Approval, type Decision, DroverError } from "@drover/contracts";
import type { AnswerReader } from "@drover/queue";
import { localAgents, redactorOf } from "../agents.js";
import type { Cli } from "../cli.js";
import { type Connection, withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { noteIfNobodyWorks } from "../working-fleet.js";

export interface AnswerOptions {
  by?: string;
  comment?: string;
  onVersionMismatch?: "refuse" | "resume";
}

/** What is decided about one question. */
export type AnswerOf = (approval: Approval) => { decisions: Decision[] } | { value: unknown };

/** Answers one approval. */
export async function decide(
  cli: Cli,
  approvalId: string,
  options: AnswerOptions,
  answerOf: AnswerOf,
): Promise<ExitCode | undefined> {
  return answering(cli, async (connection, ready) => {
    const question = await connection.client.approval(approvalId);
    await ready();
    const approval = await answerOne(connection, question, options, answerOf);
    cli.out.value(approval);
    cli.out.line(
      `Approval ${approvalId} is ${inWords(answerOf(question))}. Run ${approval.runId} is on the queue again.`,
    );
    await noteIfNobodyWorks(cli, connection);
    return undefined;
  });
}

const IN_WORDS: Readonly<Record<Decision["type"], string>> = {
  approve: "approved",
  edit: "approved with changes",
  reject: "rejected",
  respond: "answered",
};

/** What was decided, in the past tense; several decisions in their order, each word once. */
function inWords(answer: ReturnType<AnswerOf>): string {
  if ("value" in answer) return "answered";
  return [...new Set(answer.decisions.map(({ type }) => IN_WORDS[type]))].join(" and ");
}

export async function answerOne(
  { client }: Connection,
  question: Approval,
  { by, comment, onVersionMismatch }: AnswerOptions,
  answerOf: AnswerOf,
): Promise<Approval> {
  const answer = {
    ...answerOf(question),
    ...(by === undefined ? {} : { decidedBy: by }),
    ...(comment === undefined ? {} : { comment }),
  } as Answer;
  return client.approvals.decide(question.approvalId, answer, {
    door: "cli",
    ...(onVersionMismatch ? { onVersionMismatch } : {}),
  });
}

/**
 * Opens a connection that can answer. The agents take a while to load, which is in vain where there is nothing to
 * answer: `ready` loads them.
 */
export async function answering<T>(
  cli: Cli,
  use: (connection: Connection, ready: () => Promise<void>) => Promise<T>,
): Promise<T> {
  let read: AnswerReader | undefined;
  let redactor: Awaited<ReturnType<typeof redactorOf>> | undefined;
  const options = {
    readAnswer: (approval: Approval, answer: Answer) => read?.(approval, answer),
    redactorOf: (agent: string) => {
      if (!redactor) throw new DroverError("INTERNAL", "The agents were not loaded before the answer.");
      return redactor(agent);
    },
  };
  return withConnection(cli, options, (connection) =>
    use(connection, async () => {
      const [{ validateAnswer, resumeValue }, agents] = await Promise.all([
        import("@drover/runtime"),
        localAgents(cli.config),
      ]);
      redactor = await redactorOf(cli.config, agents);
      // Where the agent is at hand, edited arguments are checked against its tools.
      read = (approval, answer) => {
        const agent = agents?.list().find(({ name }) => name === approval.agent);
        return resumeValue(approval, validateAnswer(approval, answer, agent));
      };
    }),
  );
}

/** One decision for each tool call that waits. */
export function forEachAction(
  { approvalId, actions }: Approval,
  decisionOn: (action: NonNullable<Approval["actions"]>[number]) => Decision,
): { decisions: Decision[] } {
  if (actions) return { decisions: actions.map(decisionOn) };
  throw new DroverError(
    "INVALID_DECISION",
    `Approval ${approvalId} is a question, not a tool call: answer it with \`drover approvals respond\`.`,
  );
}
