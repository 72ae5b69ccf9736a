import { abortWith, DroverError, isFinal, type Run, type RunEvent, type RunStatus } from "@drover/contracts";
import { followEvents, type RunRef, type State, type Subscriptions, unknownRun } from "@drover/state";

export interface ResultOptions {
  /** Milliseconds to wait. Default: for ever. */
  timeoutMs?: number;
  /** Whether to come back when the run waits for a human. Default true: a reviewer may take weeks. */
  stopAtInterrupt?: boolean;
  signal?: AbortSignal;
}

/** An accepted run, for the one who enqueued it. */
export interface RunHandle extends RunRef {
  /** The run that this one waits behind, at the time of acceptance. */
  behind: string | null;
  status(): Promise<Run>;
  /** Waits for the end of the run. Throws RESULT_TIMEOUT; the run goes on then. */
  result(options?: ResultOptions): Promise<Run>;
  cancel(reason?: string): Promise<void>;
  events(options?: { since?: string; signal?: AbortSignal }): AsyncGenerator<RunEvent>;
}

export async function waitForResult(
  state: State,
  subscriptions: Subscriptions,
  run: RunRef,
  { timeoutMs, stopAtInterrupt = true, signal }: ResultOptions = {},
): Promise<Run> {
  const stopping = new AbortController();
  const stop = stopping.signal;
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stopping.abort(), timeoutMs);
  const letGo = abortWith(stopping, ...(signal ? [signal] : []));
  let last: RunStatus | null = null;
  // Whatever waits for Redis, which may be away, waits no longer than the caller does.
  const over = aborted(stop).then(() => Promise.reject(notYet(run, last)));
  over.catch(() => {});
  const opening = subscriptions.open(state.keys.thread(run.tenant, run.threadId).events(run.runId));
  try {
    const wake = await Promise.race([over, opening]);
    for (;;) {
      const found = await Promise.race([over, state.reader.run(run)]);
      if (!found) throw unknownRun(run.runId);
      last = found.status;
      if (isFinal(found.status) || (stopAtInterrupt && found.status === "interrupted")) {
        await Promise.race([over, untilIndexed(state, found)]);
        return found;
      }
      if (!(await wake.next(stop))) throw notYet(run, last);
    }
  } finally {
    clearTimeout(timer);
    letGo();
    opening.then(
      (wake) => wake.close(),
      () => {},
    );
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function notYet({ runId }: RunRef, status: RunStatus | null): DroverError {
  return new DroverError(
    "RESULT_TIMEOUT",
    status === null
      ? `Redis did not tell in time how run ${runId} stands; it goes on. Ask for its result again later.`
      : `Run ${runId} is still ${status}; it goes on. Ask for its result again later.`,
  );
}

/** Milliseconds that indexes get to learn what a thread's slot says; a crash in between is the sweeper's. */
const INDEXES_MS = 1000;

/** So that who was told of an end, or of a question, finds it in lists and counts too. */
async function untilIndexed(state: State, run: Run): Promise<void> {
  const end = performance.now() + INDEXES_MS;
  while ((await state.indexes.version(run.runId)) < run.version && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function createHandle(
  state: State,
  subscriptions: Subscriptions,
  run: RunRef,
  behind: string | null,
  cancel: (run: RunRef, reason?: string) => Promise<void>,
): RunHandle {
  return {
    ...run,
    behind,
    async status() {
      const found = await state.reader.run(run);
      if (!found) throw unknownRun(run.runId);
      return found;
    },
    result: (options) => waitForResult(state, subscriptions, run, options),
    cancel: (reason) => cancel(run, reason),
    events: (options) =>
      followEvents(state.redis, state.keys, subscriptions, run, { ...options, codec: state.codec }),
  };
}
