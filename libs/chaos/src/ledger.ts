import { appendFileSync, readFileSync } from "node:fs";

/**
 * What agents did to the world, in the order in which it happened: one JSON line each, appended by whichever worker
 * did it. It is a file, not Redis, so that it says what happened whatever Redis believes.
 */
export interface LedgerLine {
  /** model: a request to a provider. once: a tool that must not happen twice was started. step, tool: anything else. */
  what: "model" | "once" | "step" | "tool";
  /** The run's label: it is in the input that the harness gave. */
  run: string;
  /** The thread's id. */
  thread: string;
  /** The step's or the tool's name. */
  name: string;
  /** Of a tool marked once: names the call. */
  call?: string;
  pid: number;
  /** Milliseconds since 1970 by the machine's clock, whatever the process takes for the time. */
  at: number;
}

/** The environment variable that names the ledger's file in a worker. */
export const LEDGER_VARIABLE = "DROVER_CHAOS_LEDGER";

/** The environment variable that is 1 where a worker that is gone is dead, and not only stopped. */
export const DEAD_VARIABLE = "DROVER_CHAOS_WORKERS_ARE_DEAD";

/** For agents under test: writes one line, before what it tells of. Does nothing outside of a harness. */
export function note(line: Omit<LedgerLine, "pid" | "at">): void {
  const file = process.env[LEDGER_VARIABLE];
  if (!file) return;
  const at = Math.round(performance.timeOrigin + performance.now());
  appendFileSync(file, `${JSON.stringify({ ...line, pid: process.pid, at })}\n`);
}

export function readLedger(file: string): LedgerLine[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LedgerLine);
}
