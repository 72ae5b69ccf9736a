import type { ErrorInfo } from "./errors.js";
import type { EndedBy, RunStatus } from "./run.js";

/** What a reader who follows a run is told, in order. `attempt` tells a new try from the one before. */
export type RunEventData =
  | { type: "status"; status: RunStatus; endedBy?: EndedBy; error?: ErrorInfo; attempt: number; seq: number }
  | { type: "updates"; node: string; data: unknown; attempt: number; seq: number }
  | { type: "messages"; messageId: string; text: string; attempt: number; seq: number }
  | { type: "custom"; data: unknown; attempt: number; seq: number };

/** `id` is strictly increasing within a run and can be given to resume reading after it. */
export type RunEvent = RunEventData & { id: string };
