import {
  type ActionRequest,
  DECISION_TYPES,
  type DecisionType,
  type InterruptQuestion,
} from "@drover/contracts";
import type { GraphState } from "../agent/compiled-graph.js";
import { toPlain } from "./plain.js";

/** What a stopped graph asks: every interrupt of a task that has no result yet. */
export function questionsOf(state: GraphState): InterruptQuestion[] {
  const checkpointId = String(state.config.configurable?.checkpoint_id ?? "");
  const asked = state.tasks
    .filter((task) => task.result === undefined)
    .flatMap((task) => task.interrupts)
    .map(({ id, value }) => question(id ?? checkpointId, toPlain(value)));
  if (asked.length > 0) return asked;
  // A breakpoint of the graph's own (interruptBefore, interruptAfter) has no interrupt: any answer lets it go on.
  return [question(checkpointId, { breakpoint: [...state.next] })];
}

function question(interruptId: string, value: unknown): InterruptQuestion {
  return { interruptId, actions: actionsOf(value), value };
}

/** The tool calls in a value of the shape that LangChain's human-in-the-loop middleware gives, else null. */
function actionsOf(value: unknown): ActionRequest[] | null {
  if (!isRecord(value) || !Array.isArray(value.actionRequests) || !Array.isArray(value.reviewConfigs)) {
    return null;
  }
  const reviews: unknown[] = value.reviewConfigs;
  const actions = value.actionRequests.map((request: unknown, i): ActionRequest | null => {
    const review = reviews[i];
    if (!isRecord(request) || typeof request.name !== "string" || !isRecord(review)) return null;
    return {
      name: request.name,
      args: isRecord(request.args) ? request.args : {},
      description: typeof request.description === "string" ? request.description : "",
      allowedDecisions: DECISION_TYPES.filter(
        (type: DecisionType) =>
          Array.isArray(review.allowedDecisions) && review.allowedDecisions.includes(type),
      ),
    };
  });
  return actions.every((action) => action !== null) ? actions : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
