import { type ErrorCode, isDroverError } from "@drover/contracts";

/** What the process ends with. Documented in docs/command-line.md. */
export const EXIT = {
  ok: 0,
  /** A run that the command waited for did not succeed, no document of a batch did, or something went wrong. */
  failed: 1,
  /** The command line, the input, a setting or an agent is not valid. Nothing was done. */
  usage: 2,
  notFound: 3,
  /** Redis is away, or refuses to write. */
  redis: 4,
  /** The run that the command waited for waits for a person. */
  waiting: 5,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const BY_CODE: Partial<Record<ErrorCode, ExitCode>> = {
  INVALID_INPUT: EXIT.usage,
  INPUT_TOO_LARGE: EXIT.usage,
  RESERVED_KEY: EXIT.usage,
  DECISION_COUNT: EXIT.usage,
  DECISION_NOT_ALLOWED: EXIT.usage,
  INVALID_DECISION: EXIT.usage,
  IDEMPOTENCY_CONFLICT: EXIT.usage,
  INVALID_MESSAGE: EXIT.usage,
  PII_BLOCKED: EXIT.usage,
  INVALID_CONFIG: EXIT.usage,
  INVALID_AGENT: EXIT.usage,
  INVALID_POLICY: EXIT.usage,
  UNKNOWN_MODEL_PROVIDER: EXIT.usage,
  MISSING_API_KEY: EXIT.usage,
  UNREADABLE_DOCUMENT: EXIT.usage,
  UNKNOWN_AGENT: EXIT.notFound,
  UNKNOWN_RUN: EXIT.notFound,
  UNKNOWN_THREAD: EXIT.notFound,
  UNKNOWN_BATCH: EXIT.notFound,
  UNKNOWN_APPROVAL: EXIT.notFound,
  NO_REDIS: EXIT.redis,
  REDIS_REFUSED: EXIT.redis,
};

export function exitCodeOf(error: unknown): ExitCode {
  return (isDroverError(error) ? BY_CODE[error.code] : undefined) ?? EXIT.failed;
}
