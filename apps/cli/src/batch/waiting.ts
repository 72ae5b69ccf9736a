import { type Approval, isFinal, type Run } from "@drover/contracts";
import type { Client } from "@drover/queue";

/** A run that waits for a person, with what it asks. */
export interface WaitingRun {
  run: Run;
  approvals: Approval[];
}

/** Runs of the batch that were interrupted, as they are now; null where one of them goes on. */
export async function readWaiting(client: Client, runs: readonly Run[]): Promise<WaitingRun[] | null> {
  const found: WaitingRun[] = [];
  for (const { runId } of runs) {
    const handle = await client.run(runId);
    const [run, approvals] = await Promise.all([handle.status(), client.state.reader.approvals(handle)]);
    if (run.status === "pending" || run.status === "running") return null;
    if (isFinal(run.status)) continue;
    found.push({ run, approvals: approvals.filter((approval) => approval.status === "pending") });
  }
  return found;
}
