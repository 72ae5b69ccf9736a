import type { State, Subject } from "@drover/state";
import { type Erased, eraseThreads, threadsOfSubject } from "./erasure.js";
import { type ExportedRun, exportRuns, runsOldestFirst } from "./run-export.js";

/** What is kept of one tenant's runs: taken out before their time is over, or erased. */
export class RecordsClient {
  constructor(
    private readonly state: State,
    private readonly tenant: string,
  ) {}

  /** Runs that ended before `at` (milliseconds since 1970) and are still kept, oldest first. */
  export(at: number): AsyncGenerator<ExportedRun> {
    return exportRuns(this.state, this.tenant, at);
  }

  /**
   * Removes every trace of a thread; docs/command-line.md says of what. Counts of batches stay. Throws
   * ILLEGAL_TRANSITION while a run of it is not over.
   */
  async eraseThread(threadId: string): Promise<Erased> {
    return eraseThreads(this.state, this.tenant, [threadId]);
  }

  /** The same for the threads of all runs whose metadata have this value under this key. */
  async eraseSubject(subject: Subject): Promise<Erased> {
    const { state, tenant } = this;
    const threadIds = await threadsOfSubject(state, tenant, runsOldestFirst(state, tenant), subject);
    return eraseThreads(state, tenant, threadIds, subject);
  }
}
