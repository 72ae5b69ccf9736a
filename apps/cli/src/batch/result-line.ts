import type { EndedBy, ErrorInfo, Run, RunStatus } from "@drover/contracts";
import { isoTime, tokensOf } from "../output/format.js";

/** One document's result: a line of `--out`, of `batches results --json`. The keys and their order are promised. */
export interface ResultLine {
  document: string | null;
  /** Null for a document that could not be read: it never became a run. */
  runId: string | null;
  threadId: string | null;
  status: RunStatus;
  endedBy: EndedBy | null;
  output: unknown;
  error: ErrorInfo | null;
  /** Those that wait, while the run is interrupted; else all that were raised. */
  approvals: string[];
  attempts: number;
  /** Input and output together. */
  tokens: number;
  /** ISO 8601. */
  startedAt: string | null;
  finishedAt: string | null;
}

export function lineOf(run: Run, approvals: string[] = run.approvals): ResultLine {
  return {
    document: run.document,
    runId: run.runId,
    threadId: run.threadId,
    status: run.status,
    endedBy: run.endedBy,
    output: run.output,
    error: run.error,
    approvals,
    attempts: run.attempt,
    tokens: tokensOf(run.usage),
    startedAt: isoTime(run.startedAt),
    finishedAt: isoTime(run.finishedAt),
  };
}

/** The line of a document that was not accepted. */
export function refusedLine(document: string, error: ErrorInfo): ResultLine {
  return {
    document,
    runId: null,
    threadId: null,
    status: "error",
    endedBy: "error",
    output: null,
    error,
    approvals: [],
    attempts: 0,
    tokens: 0,
    startedAt: null,
    finishedAt: null,
  };
}
