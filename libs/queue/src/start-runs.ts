import { DEFAULT_TENANT, isDroverError, type RunRequest, replacementReason } from "@drover/contracts";
import { type State, type ThreadRef, threadMember } from "@drover/state";
import { type Accepted, type AdmissionOptions, admit } from "./admission.js";
import { cancelRun } from "./run-control.js";
import type { RunQueue } from "./run-queue.js";

/**
 * Accepts runs, and stops those whose place they take (`interrupt`, `rollback`). That they end is settled with the
 * acceptance; their threads stay marked until they were told, so that a sweeper tells them where a producer dies.
 */
export async function startRuns(
  state: State,
  queue: RunQueue,
  requests: readonly RunRequest[],
  options: AdmissionOptions,
): Promise<Accepted[]> {
  const threads = threadsToStop(requests);
  const mark = threads.length > 0 ? await state.marks.mark(threads) : null;
  const accepted = await admit(state, queue, requests, options);
  // Not the run that each waits behind: a request that was accepted before may wait behind one that it does not replace.
  await Promise.all(threads.map((thread) => stopIfAsked(state, queue, thread)));
  if (mark !== null) await state.marks.unmark(mark, threads);
  return accepted;
}

/** Each thread once. */
function threadsToStop(requests: readonly RunRequest[]): ThreadRef[] {
  const threads = requests.flatMap((request): ThreadRef[] =>
    reasonOf(request) && typeof request.threadId === "string"
      ? [{ tenant: request.tenant ?? DEFAULT_TENANT, threadId: request.threadId }]
      : [],
  );
  return [...new Map(threads.map((thread) => [threadMember(thread), thread])).values()];
}

function reasonOf({ multitaskStrategy = "enqueue" }: RunRequest): string | undefined {
  return replacementReason(multitaskStrategy);
}

/** Stops a thread's current run if somebody wanted that and died before its worker was told. */
export async function stopIfAsked(state: State, queue: RunQueue, thread: ThreadRef): Promise<void> {
  const asked = await state.reader.askedToStop(thread);
  if (!asked) return;
  await cancelRun(state, queue, asked.run, { reason: asked.reason }).catch((error: unknown) => {
    // A run that ended by itself meanwhile needs no cancelling.
    if (!isDroverError(error, "ILLEGAL_TRANSITION")) throw error;
  });
}
