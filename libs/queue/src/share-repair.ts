import type { ActivationRef, State } from "@drover/state";
import { wake } from "./publisher.js";
import { redeliver } from "./run-control.js";
import type { RunQueue } from "./run-queue.js";

/**
 * Shares of concurrent runs that a crash left: of an activation that is over, or of one that was let in and did not
 * come to the queue. Gives how many it mended.
 */
export async function repairShares(state: State, queue: RunQueue, limit: number): Promise<number> {
  const { found, granted } = await state.shares.look(limit);
  await wake(state, queue, granted);
  const mended = await Promise.all(
    found.map(({ activation, waits }) => mend(state, queue, activation, waits)),
  );
  return granted.length + mended.filter(Boolean).length;
}

async function mend(
  state: State,
  queue: RunQueue,
  activation: ActivationRef,
  waits: boolean,
): Promise<boolean> {
  const run = await state.reader.run(activation, false);
  const isOver = run === null || run.seq > activation.seq || isIdle(run.status);
  if (isOver) {
    await wake(state, queue, await state.shares.drop(activation));
    return true;
  }
  if (waits || run.status !== "pending") return false;
  const pointer = await state.reader.pointer(activation);
  if (!pointer || (await queue.has(pointer))) return false;
  return redeliver(state, queue, activation);
}

const isIdle = (status: string): boolean => status !== "pending" && status !== "running";
