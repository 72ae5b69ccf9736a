import { type Dispatch, isDroverError, isStoreFailure, type Transition } from "@drover/contracts";
import type { ActivationRef, State, ThreadRef } from "@drover/state";
import type { RunQueue } from "./run-queue.js";

/**
 * Tells queue and indexes what was committed in threads' slots. Safe to repeat at any point: the queue ignores an id
 * that it holds, an index what it has seen, and a pointer that is delivered twice is claimed once.
 * The indexes are told last: while they do not know of a change, its worker is still noted as having the run, so that
 * a crash in between is found.
 */
export async function announce(
  state: State,
  queue: RunQueue,
  transitions: readonly Transition[],
): Promise<void> {
  await queue.add(
    transitions.flatMap(({ dispatch, at }): Dispatch[] => (dispatch ? [{ ...dispatch, from: at }] : [])),
  );
  await queue.notices.send(state, transitions);
  await wake(state, queue, await state.indexes.apply(transitions));
}

/** Puts activations on the queue that waited for a share and have it now. What a crash leaves, the sweeper finds. */
export async function wake(state: State, queue: RunQueue, granted: readonly ActivationRef[]): Promise<void> {
  if (granted.length === 0) return;
  const woken = await Promise.all(
    granted.map((activation) => state.runs.redeliver(activation, activation.seq)),
  );
  await publish(
    state,
    queue,
    woken.filter((transition) => transition !== null),
  );
}

/** The same for transitions that stand in outboxes, from which they are removed then. */
export async function publish(
  state: State,
  queue: RunQueue,
  transitions: readonly Transition[],
): Promise<void> {
  if (transitions.length === 0) return;
  await announce(state, queue, transitions);
  await Promise.all(transitions.map((t) => state.runs.acknowledge(t)));
}

/**
 * A change that no worker's claim stands for: its thread is marked around it, so that a sweeper publishes it where
 * whoever made it died before.
 */
export async function change<T extends { transition: Transition | null }>(
  state: State,
  queue: RunQueue,
  thread: ThreadRef,
  make: () => Promise<T>,
): Promise<T> {
  const mark = await state.marks.mark([thread]);
  try {
    const made = await make();
    if (made.transition) await publish(state, queue, [made.transition]);
    await state.marks.unmark(mark, [thread]);
    return made;
  } catch (error) {
    // Where publishing failed, the mark stays for the sweeper. What was refused changed nothing, unless the same
    // change was made just before and its reply was lost on the way: then that one is to be published.
    if (isDroverError(error) && !isStoreFailure(error)) {
      await publish(state, queue, await state.runs.unpublished(thread));
      await state.marks.unmark(mark, [thread]);
    }
    throw error;
  }
}
