import {
  DroverError,
  type EndedBy,
  type ErrorCode,
  isDroverError,
  isStoreFailure,
  type Outcome,
  type Usage,
} from "@drover/contracts";
import { isGraphDrained } from "@langchain/langgraph";
import type { LoadedAgent } from "../load/loaded-agent.js";
import { ModelCallError, trueCause } from "../policy/failures.js";
import type { Services } from "./services.js";

/** What a thrown error makes of an activation. The signal's own reason comes first: everything after it is noise. */
export function outcomeOfError(
  error: unknown,
  agent: LoadedAgent,
  services: Services,
  usage: Usage,
): Outcome {
  if (services.signal.aborted) return stopped(services.signal.reason, usage);
  const cause = firstCause(error);
  if (isDroverError(cause, "LEASE_LOST")) return { kind: "superseded" };
  if (isGraphDrained(cause as Parameters<typeof isGraphDrained>[0])) return { kind: "yielded", usage };
  const known = named(cause, agent);
  services.logger.warn({ code: known.code, err: cause }, "The run failed");
  const again = cause instanceof ModelCallError ? cause : undefined;
  return {
    kind: "failed",
    error: { code: known.code, message: safe(known.message, services) },
    retryable: again?.retryable ?? isStoreFailure(known),
    ...(again?.retryAfterMs === undefined ? {} : { retryAfterMs: again.retryAfterMs }),
    endedBy: endedBy(known.code),
    usage,
  };
}

/** Limits whose policy ends the run, wherever in it they were reached. */
const LIMITS = new Set<ErrorCode>(["MODEL_CALL_LIMIT", "TOOL_CALL_LIMIT"]);
/** Times that were over. */
const TIMEOUTS = new Set<ErrorCode>(["DEADLINE_EXCEEDED", "RUN_TIMEOUT", "STEP_TIMEOUT", "TOOL_TIMEOUT"]);

function stopped(reason: unknown, usage: Usage): Outcome {
  if (isDroverError(reason, "LEASE_LOST")) return { kind: "superseded" };
  if (isDroverError(reason) && TIMEOUTS.has(reason.code)) {
    return { kind: "timed_out", error: reason.toInfo(), usage };
  }
  if (isDroverError(reason) && LIMITS.has(reason.code)) {
    return {
      kind: "failed",
      error: reason.toInfo(),
      retryable: false,
      endedBy: endedBy(reason.code),
      usage,
    };
  }
  return { kind: "cancelled", reason: reason instanceof Error ? reason.message : String(reason), usage };
}

/** Tasks of one step fail together; what stops the run speaks before what failed in it. */
function firstCause(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return trueCause(error);
  const causes: unknown[] = error.errors.map(firstCause);
  const about = (code?: ErrorCode) => causes.find((cause) => isDroverError(cause, code));
  return about("LEASE_LOST") ?? about() ?? causes[0];
}

function named(cause: unknown, agent: LoadedAgent): DroverError {
  if (cause instanceof DroverError) return cause;
  const { name, message } = cause instanceof Error ? cause : { name: "", message: String(cause) };
  switch (name) {
    case "GraphRecursionError":
      return new DroverError("RECURSION_LIMIT", recursionMessage(agent));
    case "EmptyInputError":
      return new DroverError(
        "INVALID_INPUT",
        `The input has none of the keys that the agent '${agent.name}' reads; most agents take a text or {"messages": [...]}.`,
      );
    case "UnknownInterruptError":
      return new DroverError("ILLEGAL_TRANSITION", "The question that was answered does not wait any more.");
    default:
      return new DroverError(
        "AGENT_ERROR",
        message || `The agent threw ${name || "something"} without a message.`,
      );
  }
}

function recursionMessage(agent: LoadedAgent): string {
  const steps = agent.recursionLimit;
  if (steps === undefined) {
    return "The graph took more steps than its limit without an end. Look for a loop, or raise the limit with withConfig({ recursionLimit }) on the graph.";
  }
  return `The agent took ${steps} steps without an end. See in its thread why the model does not finish, or raise policy.modelTurns.`;
}

function endedBy(code: ErrorCode): EndedBy {
  if (code === "MODEL_CALL_LIMIT") return "model_call_limit";
  if (code === "TOOL_CALL_LIMIT") return "tool_call_limit";
  return "error";
}

function safe(message: string, services: Services): string {
  try {
    return services.redactor.text(message, "error");
  } catch {
    return "The error's message holds what a rule of the policy blocks.";
  }
}
