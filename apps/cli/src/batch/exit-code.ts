import { EXIT, type ExitCode } from "../exit-codes.js";
import type { BatchReport } from "./run-batch.js";

/** A single document's failure is a result; that nothing at all came of a batch is a failure of the command. */
export function exitCodeOfBatch({ batch: { counts, total }, tally }: BatchReport): ExitCode {
  if (total + tally.refused === 0 || counts.success + counts.interrupted > 0) return EXIT.ok;
  return EXIT.failed;
}
