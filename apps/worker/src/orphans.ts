import { type RunQueue, takeOver } from "@drover/queue";
import { type ActivationRef, claimOf, type State } from "@drover/state";
import type { ActiveRuns } from "./active-runs.js";

/**
 * Runs that are noted as this worker's and that it does not work on: a defect, or a Redis that failed between two
 * writes, left them. They are given back, so that a worker that lives keeps nothing that stands still. No worker
 * died of them.
 */
export class Orphans {
  /** What was without work at the last look: one look may fall between a claim and its work. */
  private suspects = new Set<string>();

  constructor(
    private readonly state: State,
    private readonly queue: RunQueue,
    private readonly activeRuns: ActiveRuns,
  ) {}

  /** Gives how many were given back. */
  async giveBack(worker: string): Promise<number> {
    const idle = (await this.state.workers.claims(worker)).filter((claim) => !this.activeRuns.has(claim));
    const orphans = idle.filter((claim) => this.suspects.has(claimOf(claim)));
    this.suspects = new Set(idle.map(claimOf));
    return takeOver(this.state, this.queue, worker, orphans, false);
  }
}

/** What a worker that leaves could not hand over goes on elsewhere, and counts as no crash. */
export async function giveAllBack(state: State, queue: RunQueue, worker: string): Promise<number> {
  const claims: ActivationRef[] = await state.workers.claims(worker);
  return takeOver(state, queue, worker, claims, false);
}
