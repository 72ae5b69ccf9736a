import { isDroverError, type RunRequest } from "@drover/contracts";
import type { State } from "@drover/state";
import { type Accepted, type AdmissionOptions, admit } from "./admission.js";
import { cancelRun } from "./run-control.js";
import type { RunQueue } from "./run-queue.js";

/** Accepts runs, and ends those whose place they take (`multitaskStrategy: "interrupt"`). */
export async function startRuns(
  state: State,
  queue: RunQueue,
  requests: readonly RunRequest[],
  options: AdmissionOptions,
): Promise<Accepted[]> {
  const accepted = await admit(state, queue, requests, options);
  await Promise.all(
    accepted.map(async ({ run, behind }, i) => {
      if (!behind || requests[i]?.multitaskStrategy !== "interrupt") return;
      await cancelRun(state, queue, { ...run, runId: behind }, "Another run took its place.").catch(
        (error: unknown) => {
          // A run that ended by itself meanwhile needs no cancelling.
          if (!isDroverError(error, "ILLEGAL_TRANSITION")) throw error;
        },
      );
    }),
  );
  return accepted;
}
