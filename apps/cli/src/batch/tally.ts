import type { ErrorInfo, Run } from "@drover/contracts";
import { isFinal } from "@drover/contracts";
import type { ResultLine } from "./result-line.js";

/** Rows that a person is shown. */
const ROWS = 60;
const EXAMPLES = 3;

export interface FailureGroup {
  code: string;
  count: number;
  examples: { document: string; message: string }[];
}

/** What a command remembers of a batch for its closing words: bounded, except for what failed and what waits. */
export class Tally {
  private readonly rows = new Map<string, ResultLine>();
  private readonly failures = new Map<string, ErrorInfo>();
  private readonly waitingRuns = new Map<string, Run>();
  private refusals = 0;

  note(line: ResultLine): void {
    const name = line.document ?? line.runId ?? "";
    if (this.rows.has(name) || this.rows.size < ROWS) this.rows.set(name, line);
    if (line.error) this.failures.set(name, line.error);
    else this.failures.delete(name);
    if (line.runId === null) this.refusals += 1;
  }

  /** Keeps a run that waits for a person until it ends. */
  noteRun(run: Run): void {
    if (run.status === "interrupted") this.waitingRuns.set(run.runId, run);
    else if (isFinal(run.status)) this.waitingRuns.delete(run.runId);
  }

  /** Documents that never became runs. */
  get refused(): number {
    return this.refusals;
  }

  get waiting(): Run[] {
    return [...this.waitingRuns.values()];
  }

  /** By document's name. */
  get lines(): ResultLine[] {
    return [...this.rows.values()].sort((a, b) => ((a.document ?? "") < (b.document ?? "") ? -1 : 1));
  }

  /** Largest first. */
  get failed(): FailureGroup[] {
    const groups = new Map<string, FailureGroup>();
    for (const [document, { code, message }] of this.failures) {
      const group = groups.get(code) ?? { code, count: 0, examples: [] };
      group.count += 1;
      if (group.examples.length < EXAMPLES) group.examples.push({ document, message });
      groups.set(code, group);
    }
    return [...groups.values()].sort((a, b) => b.count - a.count);
  }
}
