import type { ErrorInfo } from "./errors.js";
import type { InterruptQuestion } from "./interrupt.js";
import type { EndedBy } from "./run.js";
import type { Usage } from "./usage.js";

/**
 * What an activation came to: a closed set. libs/runtime produces it, `settle` is the one place that acts on it,
 * and a new member does not compile until settle handles it.
 */
export type Outcome =
  | { kind: "completed"; output: unknown; endedBy: EndedBy; usage: Usage }
  | { kind: "interrupted"; questions: InterruptQuestion[]; checkpointId: string; usage: Usage }
  | {
      kind: "failed";
      error: ErrorInfo;
      retryable: boolean;
      retryAfterMs?: number;
      endedBy: EndedBy;
      usage: Usage;
    }
  | { kind: "cancelled"; reason: string; usage: Usage }
  | { kind: "timed_out"; error: ErrorInfo; usage: Usage }
  /** The worker gives the run to another one at a step boundary; nothing failed, no attempt is spent. */
  | { kind: "yielded"; usage: Usage }
  /** The lease is gone: another worker has the run, nothing may be written. */
  | { kind: "superseded" };
