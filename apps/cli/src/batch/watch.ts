import { isFinal } from "@drover/contracts";
import type { Client } from "@drover/queue";
import type { Cli } from "../cli.js";
import { paintStatus } from "../output/output.js";
import { oneLine } from "../output/text.js";
import { lineOf } from "./result-line.js";
import type { BatchReport } from "./run-batch.js";
import { resultInBrief } from "./summary.js";

/** Tells when a run of the batch that waited for a person goes on and ends, until none is left or the signal fires. */
export async function watchBatch(
  { out }: Cli,
  client: Client,
  { batch, waiting }: BatchReport,
  signal: AbortSignal,
): Promise<void> {
  const open = new Set(waiting.map(({ run }) => run.runId));
  const wake = await client.watchBatch(batch.batchId);
  try {
    while (open.size > 0 && (await wake.next(signal))) {
      for (const runId of open) {
        const run = await (await client.run(runId)).status();
        if (!isFinal(run.status)) continue;
        open.delete(runId);
        const name = oneLine(run.document ?? runId);
        out.line(`${name}: ${paintStatus(run.status, out.colours)}  ${resultInBrief(lineOf(run))}`);
      }
    }
  } finally {
    wake.close();
  }
}
