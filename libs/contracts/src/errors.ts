/**
 * Every failure that a user can meet has a stable code here. A code names what is wrong, the message says what
 * to do, and docs/errors.md has a section for each (a test checks that).
 */
export const ERROR_CODES = {
  // What a caller sent
  INVALID_INPUT: "The request does not have the documented shape.",
  INPUT_TOO_LARGE: "The input is larger than the limit.",
  RESERVED_KEY: "The request sets a key that only the agent's policy may set.",
  UNKNOWN_AGENT: "No loaded agent has this name.",
  UNKNOWN_RUN: "No run has this id in this tenant.",
  UNKNOWN_THREAD: "No thread has this id in this tenant.",
  UNKNOWN_BATCH: "No batch has this id in this tenant.",
  UNKNOWN_APPROVAL: "No approval has this id in this tenant.",
  IDEMPOTENCY_CONFLICT: "The idempotency key was used before with another request.",
  THREAD_BUSY: "The thread has an unfinished run and the request asked to be rejected in that case.",
  APPROVAL_ANSWERED: "The approval was answered before.",
  APPROVAL_EXPIRED: "The approval's time was over before anybody answered.",
  NOT_PERMITTED: "The approval is assigned to somebody else, or nobody vouches for who sends the answer.",
  VERSION_MISMATCH: "The agent changed since the question was asked.",
  DECISION_COUNT: "The answer has another number of decisions than the question has tool calls.",
  DECISION_NOT_ALLOWED: "The policy does not allow this kind of decision for this tool call.",
  INVALID_DECISION: "The decision does not fit the question.",
  ILLEGAL_TRANSITION: "The run or batch is in a state that does not allow this.",
  INVALID_MESSAGE: "A message on the inbox does not have the documented shape.",
  BAD_SIGNATURE: "A message has no valid signature of a known service where it needs one.",
  // How an agent or a process was set up
  INVALID_AGENT: "An agent's definition or langgraph.json is not valid.",
  INVALID_POLICY: "A policy contradicts itself or has a value that is not allowed.",
  UNKNOWN_MODEL_PROVIDER: "The model's provider is not known or its package is not installed.",
  MISSING_API_KEY: "The environment variable with the provider's key is not set.",
  MISSING_CREDENTIAL: "A credential that the runtime context refers to is not in the worker's environment.",
  INVALID_CONFIG: "A setting in the environment or on the command line is not valid.",
  UNREADABLE_DOCUMENT: "The document could not be read.",
  NO_REDIS: "Redis could not be reached or started.",
  REDIS_REFUSED: "Redis refused a write.",
  // How a run ended
  AGENT_ERROR: "The agent's own code threw.",
  TOOL_ERROR: "A tool threw and the policy does not turn that into a message for the model.",
  UNKNOWN_TOOL: "The model asked for a tool that the agent does not have, again after it was told so.",
  MODEL_ERROR: "The model's provider failed.",
  MODEL_AUTH: "The model's provider refused the key.",
  MODEL_RATE_LIMITED: "The model's provider went on refusing requests for their rate.",
  MODEL_TIMEOUT: "The model's provider did not answer in time.",
  MODEL_BAD_RESPONSE: "The model's answer could not be used.",
  STRUCTURED_OUTPUT_INVALID: "The model's answer does not fit the response format.",
  RECURSION_LIMIT: "The graph took more steps than its limit.",
  MODEL_CALL_LIMIT: "The policy's limit of model calls was reached.",
  TOOL_CALL_LIMIT: "The policy's limit of tool calls was reached.",
  PII_BLOCKED: "A rule with the strategy block matched.",
  PII_DETECTOR_FAILED:
    "The detector of a PII rule threw, answered nonsense or took too long, so the text was not let through.",
  DEADLINE_EXCEEDED: "The run's deadline passed.",
  RUN_TIMEOUT: "The run took longer than its time limit.",
  STEP_TIMEOUT: "A step of the run took longer than its policy allows.",
  TOOL_TIMEOUT: "A tool took longer than its policy allows.",
  CANCELLED: "Somebody cancelled the run.",
  POISONED: "The run's worker died several times while it executed this run.",
  EFFECT_UNKNOWN: "A tool marked once was started and its outcome is not known.",
  AGENT_NOT_AVAILABLE: "No worker has the agent or the version that the run needs.",
  // Who may write
  LEASE_LOST: "Another worker has taken the thread over; this one's writes are refused.",
  RESULT_TIMEOUT: "The run did not reach a final state in the time that the caller waited.",
  INTERNAL: "A defect in Drover.",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Codes of runs that no worker could see through, through no fault of the agent's answer: they are dead letters. */
export const DEAD_LETTER_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "POISONED",
  "AGENT_NOT_AVAILABLE",
]);

/** How an error is stored, sent and shown. Never holds a stack or a cause: those may hold what a user typed. */
export interface ErrorInfo {
  code: ErrorCode;
  message: string;
}

/**
 * The one error class of Drover. `code` is stable and documented; `message` tells the reader what to do;
 * `cause` is kept in memory for debugging and is never stored.
 */
export class DroverError extends Error {
  override readonly name = "DroverError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  toInfo(): ErrorInfo {
    return { code: this.code, message: this.message };
  }
}

export function isDroverError(error: unknown, code?: ErrorCode): error is DroverError {
  return error instanceof DroverError && (code === undefined || error.code === code);
}

/**
 * Whether Redis was away, full or read-only: nothing is wrong with what was asked for, and trying again later, or by
 * somebody else, may do.
 */
export function isStoreFailure(error: unknown): boolean {
  return isDroverError(error, "NO_REDIS") || isDroverError(error, "REDIS_REFUSED");
}
