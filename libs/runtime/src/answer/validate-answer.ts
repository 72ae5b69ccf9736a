import {
  type ActionRequest,
  type Answer,
  answerSchema,
  type Decision,
  DroverError,
  type ErrorCode,
  type InterruptQuestion,
  parseOrThrow,
} from "@drover/contracts";
import { Validator } from "@langchain/core/utils/json_schema";
import { interopSafeParse, isInteropZodSchema } from "@langchain/core/utils/types";
import { toolNamesOf } from "../agent/define-agent.js";
import type { LoadedAgent } from "../load/loaded-agent.js";

/**
 * Checks an answer before anything is stored: its shape, the number of decisions, what each may decide, and, where
 * the agent is at hand, that edited arguments fit the tool. Gives the answer as it is stored.
 * @throws DroverError DECISION_COUNT, DECISION_NOT_ALLOWED, INVALID_DECISION; the question stays unanswered
 */
export function validateAnswer(
  question: Pick<InterruptQuestion, "actions">,
  answer: unknown,
  agent?: LoadedAgent,
): Answer {
  const { actions } = question;
  const has = (key: string) => typeof answer === "object" && answer !== null && key in answer;
  const [decisionsSchema, valueSchema] = answerSchema.options;
  if (actions === null) {
    if (has("decisions"))
      throw invalid("the question is a plain one: answer it with { value }, not with decisions");
    return parseOrThrow(valueSchema, answer, "The answer", "INVALID_DECISION");
  }
  if (has("value")) {
    throw invalid(`the question is about ${actions.length} tool calls: answer it with { decisions }`);
  }
  const checked = parseOrThrow(decisionsSchema, answer, "The answer", "INVALID_DECISION");
  if (checked.decisions.length !== actions.length) {
    throw refused(
      "DECISION_COUNT",
      `the question is about ${actions.length} tool calls and the answer has ${checked.decisions.length} decisions; give one for each, in order`,
    );
  }
  for (const [i, action] of actions.entries()) {
    const decision = checked.decisions[i];
    if (decision) checkDecision(decision, action, i + 1, agent);
  }
  return checked;
}

/**
 * The value that a valid answer is to the graph. Decisions carry the ids of their calls, which the policy reads when
 * the graph goes on; LangChain's own middleware does not mind them.
 */
export function resumeValue(question: InterruptQuestion, answer: Answer): unknown {
  if (!("decisions" in answer)) return answer.value;
  const ids = callIdsOf(question.value);
  return {
    decisions: answer.decisions.map((decision, i) =>
      ids[i] === undefined ? decision : { ...decision, toolCallId: ids[i] },
    ),
  };
}

function callIdsOf(value: unknown): (string | undefined)[] {
  const requests =
    typeof value === "object" && value !== null && "actionRequests" in value ? value.actionRequests : [];
  if (!Array.isArray(requests)) return [];
  return requests.map((request: { id?: unknown }) =>
    typeof request.id === "string" ? request.id : undefined,
  );
}

function checkDecision(decision: Decision, action: ActionRequest, number: number, agent?: LoadedAgent): void {
  if (!action.allowedDecisions.includes(decision.type)) {
    throw refused(
      "DECISION_NOT_ALLOWED",
      `decision ${number} is '${decision.type}'; for '${action.name}' these are allowed: ${action.allowedDecisions.join(", ")}`,
    );
  }
  if (decision.type === "edit") checkEdit(decision.editedAction, number, agent);
}

function checkEdit(
  { name, args }: ActionRequest | { name: string; args: Record<string, unknown> },
  number: number,
  agent?: LoadedAgent,
): void {
  const definition = agent?.definition;
  if (!definition) return;
  const names = toolNamesOf(definition);
  if (!names.includes(name)) {
    throw invalid(`decision ${number} edits the call to '${name}'; the agent has: ${names.join(", ")}`);
  }
  const tool = definition.tools?.find((candidate) => "name" in candidate && candidate.name === name);
  const wrong = tool && "schema" in tool ? misfits(tool.schema, args) : [];
  if (wrong.length > 0) {
    throw invalid(`the arguments of decision ${number} do not fit '${name}': ${wrong.join("; ")}`);
  }
}

/** What does not fit, without the values: they may be what a rule hides. */
function misfits(schema: unknown, args: Record<string, unknown>): string[] {
  if (isInteropZodSchema(schema)) {
    const result = interopSafeParse(schema, args);
    if (result.success) return [];
    return result.error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`);
  }
  if (typeof schema !== "object" || schema === null) return [];
  const { errors } = new Validator(schema as ConstructorParameters<typeof Validator>[0]).validate(args);
  return errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

const invalid = (what: string): DroverError => refused("INVALID_DECISION", what);

function refused(code: ErrorCode, what: string): DroverError {
  return new DroverError(code, `The answer is refused: ${what}.`);
}
