import type { Dispatch, Transition } from "@drover/contracts";
import type { State } from "@drover/state";
import type { RunQueue } from "./run-queue.js";

/**
 * Tells indexes and queue what was committed in threads' slots. Safe to repeat at any point: an index ignores what it has seen, the queue ignores an id that it holds, and a pointer that is
 * delivered twice is claimed once.
 */
export async function announce(
  state: State,
  queue: RunQueue,
  transitions: readonly Transition[],
): Promise<void> {
  const dispatches = transitions.map((t) => t.dispatch).filter((d): d is Dispatch => d !== null);
  await Promise.all([state.indexes.apply(transitions), queue.add(dispatches)]);
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
