/** What Redis and the connection to it say when a command fails, in the words of a DroverError. */
import { DroverError, isDroverError } from "@drover/contracts";

interface Refusal {
  says: RegExp;
  why: string;
  /** Whoever connects anew is refused in the same way: starting a process anew mends nothing. */
  isForAll: boolean;
}

const REFUSALS: readonly Refusal[] = [
  {
    says: /^-?OOM|OOM command not allowed/,
    why: "it has no memory left (maxmemory). Nothing was stored; give it more, or wait",
    isForAll: true,
  },
  {
    says: /^MISCONF/,
    why: "it cannot write to its disk. Nothing was stored; free space on Redis's disk",
    isForAll: true,
  },
  {
    says: /^READONLY/,
    why: "it is a read-only replica. Connect to the primary",
    isForAll: false,
  },
  {
    // What a transaction was refused for is said of its commands alone: a full Redis, nearly always.
    says: /^EXECABORT/,
    why: "it refused a part of a transaction. Nothing was stored; see its memory and its log",
    isForAll: true,
  },
  {
    says: /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|UNBLOCKED)\b/,
    why: "it takes no commands at the moment. Wait, or see its log",
    isForAll: true,
  },
  {
    says: /NOAUTH|WRONGPASS|NOPERM/,
    why: "the user or password in REDIS_URL is missing or not accepted",
    isForAll: false,
  },
];

const refusalIn = ({ message }: Error): Refusal | undefined =>
  REFUSALS.find(({ says }) => says.test(message));

/** A failed command in the words of a DroverError: what Redis refused and what to do about it. */
export function asDroverError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const refusal = refusalIn(error);
  if (refusal) {
    return new DroverError("REDIS_REFUSED", `Redis refused a command: ${refusal.why}.`, { cause: error });
  }
  if (isConnectionError(error)) {
    return new DroverError(
      "NO_REDIS",
      "Redis does not answer. Check that it runs and that REDIS_URL is right.",
      { cause: error },
    );
  }
  return error;
}

/** Whether Redis answered and refuses everyone alike: it is full, cannot write, is loading. */
export function isRefusalForAll(error: unknown): error is DroverError {
  return (
    isDroverError(error, "REDIS_REFUSED") &&
    error.cause instanceof Error &&
    refusalIn(error.cause)?.isForAll === true
  );
}

function isConnectionError(error: Error): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string" && /^E(CONN|PIPE|HOST|NET|TIMEDOUT|AI_)/.test(code)) return true;
  return /Connection is closed|Command aborted due to connection close|max retries per request|Command timed out|Stream isn't writeable/.test(
    error.message,
  );
}
