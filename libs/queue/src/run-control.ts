import type { ErrorInfo, Redactor, RunStatus } from "@drover/contracts";
import { memberOf, type RunRef, refOf, type State } from "@drover/state";
import { change, wake } from "./publisher.js";
import type { RunQueue } from "./run-queue.js";

const PAGE = 500;

/** What is paused: everything, a tenant, an agent or a batch. */
export type PauseScope = "all" | `tenant:${string}` | `agent:${string}` | `batch:${string}`;

/** The scopes that a run falls under. */
export function scopesOf(run: { tenant: string; agent: string; batchId: string | null }): PauseScope[] {
  const scopes: PauseScope[] = ["all", `tenant:${run.tenant}`, `agent:${run.agent}`];
  if (run.batchId) scopes.push(`batch:${run.batchId}`);
  return scopes;
}

export interface Cancelling {
  /** Why, in words of a person. Default: on request. */
  reason?: string | undefined;
  /** What to take out of the reason before it is written. Left out where the words are Drover's own. */
  redactorOf?: (agent: string) => Redactor;
  messageId?: string;
}

/**
 * Ends a run: at once where no worker has it, else its worker is told and stops within a second. The same message a
 * second time changes nothing.
 */
export async function cancelRun(
  state: State,
  queue: RunQueue,
  run: RunRef,
  { reason, redactorOf, messageId = "" }: Cancelling,
): Promise<void> {
  const error: ErrorInfo = { code: "CANCELLED", message: reason ?? "Cancelled on request." };
  if (reason !== undefined && redactorOf !== undefined) {
    const found = await state.reader.run(run, false);
    if (found) error.message = redactorOf(found.agent).text(reason, "error");
  }
  const { worker } = await change(state, queue, run, () => state.runs.cancel(run, error, messageId));
  if (worker) await state.workers.askToStop(worker, memberOf(run));
}

/** Tries a run that ended without success once more, from its last checkpoint. */
export async function retryRun(state: State, queue: RunQueue, run: RunRef, messageId = ""): Promise<void> {
  await change(state, queue, run, async () => ({ transition: await state.runs.reopen(run, messageId) }));
}

/** Workers take nothing of the scope any more; what runs goes on. */
export async function pauseScope(state: State, scope: PauseScope): Promise<void> {
  await state.workers.pause(scope, true);
}

/** Lets a scope go on: what was put aside goes back on the queue. Gives how many. */
export async function resumeScope(state: State, queue: RunQueue, scope: PauseScope): Promise<number> {
  await state.workers.pause(scope, false);
  return unparkAll(state, queue, scope);
}

/** What workers put aside and could not look after: a scope may go on while one of them dies over it. */
export async function unparkForgotten(state: State, queue: RunQueue): Promise<number> {
  let resumed = 0;
  for (const scope of await state.workers.parkedScopes()) {
    if (await state.workers.isPaused(scope)) continue;
    resumed += await unparkAll(state, queue, scope as PauseScope);
  }
  return resumed;
}

async function unparkAll(state: State, queue: RunQueue, scope: PauseScope): Promise<number> {
  let resumed = 0;
  for (;;) {
    const members = new Set(await state.workers.parked(scope, PAGE));
    if (members.size === 0) {
      await state.workers.forgetParked(scope);
      return resumed;
    }
    const back = await Promise.all(
      [...members].map(async (member) => {
        const isBack = await redeliver(state, queue, refOf(member));
        // Only now: who dies in between leaves it for the next one to resume the scope.
        await state.workers.unpark(scope, member);
        return isBack;
      }),
    );
    resumed += back.filter(Boolean).length;
  }
}

/** Puts a run's newest activation on the queue once more. False where it does not wait there any more. */
export async function redeliver(state: State, queue: RunQueue, run: RunRef): Promise<boolean> {
  const pointer = await state.reader.pointer(run);
  if (!pointer) return false;
  const make = async () => ({ transition: await state.runs.redeliver(run, pointer.seq) });
  return (await change(state, queue, run, make)).transition !== null;
}

/**
 * Puts a delivery of a paused scope aside; its run keeps its place in its thread. Gives false, and leaves nothing
 * aside, where the scope goes on by now: workers learn of that with their next heartbeat.
 */
export async function park(state: State, queue: RunQueue, run: RunRef, scope: PauseScope): Promise<boolean> {
  if (!(await state.workers.isPaused(scope))) return false;
  await state.workers.park(scope, memberOf(run));
  await state.indexes.dropDue(run);
  // What stands still keeps no share from others. One that a worker has by another delivery keeps its own.
  const withheld = await state.runs.withhold(run);
  if (withheld) await wake(state, queue, await state.shares.drop(withheld, withheld.delivery));
  // Who resumed in between has not seen this one.
  if (!(await state.workers.isPaused(scope))) await unparkAll(state, queue, scope);
  return true;
}

/** Calls `act` for each run of a batch that is in one of the states. Gives for how many it succeeded. */
export async function forEachOfBatch(
  state: State,
  batchId: string,
  tenant: string,
  statuses: readonly RunStatus[],
  act: (run: RunRef) => Promise<unknown>,
): Promise<number> {
  let done = 0;
  for (let offset = 0; ; offset += PAGE) {
    const ids = await state.batches.runs(batchId, offset, PAGE);
    if (ids.length === 0) return done;
    await Promise.all(
      ids.map(async (id) => {
        const run = await state.indexes.locate(id, tenant).catch(() => null);
        const found = run ? await state.reader.run(run, false) : null;
        if (!run || !found || !statuses.includes(found.status)) return;
        // A run that moved on since it was read is left as it is now.
        await act(run).then(
          () => {
            done += 1;
          },
          () => {},
        );
      }),
    );
  }
}
