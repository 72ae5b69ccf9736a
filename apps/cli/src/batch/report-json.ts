import type { Estimate } from "./estimate.js";
import type { BatchReport } from "./run-batch.js";

/** What `batch --json` prints. */
export function reportJson(
  { batch, tally, waiting, ms, isDone }: BatchReport,
  more: { out: string | null; model: string | null; estimate: Estimate | null },
): Record<string, unknown> {
  const { usage } = batch;
  return {
    batchId: batch.batchId,
    agent: batch.agent,
    model: more.model,
    isDone,
    documents: batch.total + tally.refused,
    counts: batch.counts,
    refused: tally.refused,
    failures: tally.failed,
    waiting: waiting.flatMap(({ run, approvals }) =>
      approvals.map(({ approvalId }) => ({ document: run.document, runId: run.runId, approvalId })),
    ),
    usage,
    dollars: usage.costMicros > 0 ? usage.costMicros / 1e6 : null,
    ms: Math.round(ms),
    out: more.out,
    estimate: more.estimate,
  };
}
