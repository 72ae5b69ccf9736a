import { type ConcurrencyLimits, type Pointer, type ShareKind, sharesOf } from "@drover/contracts";
import { wake } from "@drover/queue";
import type { Claimed } from "@drover/state";
import type { ActiveRun } from "./active-runs.js";
import type { WorkerContext } from "./context.js";

/** What came of a delivery: claimed, or why not. `waits`: its run stands in line for a share and is off the queue. */
export type Claim =
  | { claimed: Extract<Claimed, { what: "claimed" }>; active: ActiveRun }
  | { claimed: Exclude<Claimed, { what: "claimed" | "limited" }> | { what: "waits"; kind: ShareKind } };

/** The claim is noted in the same flight as it is made, so that a crash right after it leaves a trace. */
export async function claim(context: WorkerContext, pointer: Pointer): Promise<Claim> {
  const { activeRuns, state } = context;
  const worker = context.workerId();
  const answered = activeRuns.claims(pointer);
  try {
    const [, first] = await Promise.all([
      state.workers.noteClaim(worker, pointer),
      state.runs.claim(pointer, pointer.seq, worker, context.versions, limitedAgents(context, pointer)),
    ]);
    const claimed = first.what === "limited" ? await claimInTurn(context, pointer, worker, first) : first;
    if (claimed.what === "claimed")
      return { claimed, active: activeRuns.begin(claimed.lease, claimed.activation.agent) };
    answered();
    // A second delivery of a run that this worker has, or is about to have, must not make it forget the first.
    if (claimed.what !== "held" && !activeRuns.has(pointer)) await state.workers.dropClaim(worker, pointer);
    return { claimed };
  } finally {
    answered();
  }
}

/**
 * Takes the run's shares, then claims it; again where they may have been taken away in between. Shares of a run that
 * is over by then are found by the sweeper: only the thread's own slot knows, and it cannot be asked in the same moment.
 */
async function claimInTurn(
  context: WorkerContext,
  pointer: Pointer,
  worker: string,
  { run, priority, delivery }: Extract<Claimed, { what: "limited" }>,
): Promise<Claim["claimed"]> {
  const { state, queue, versions } = context;
  const limits = sharesOf(run, context.concurrency);
  const { waitsFor, granted } = await state.shares.take({ ...pointer, delivery }, priority, limits);
  await wake(state, queue, granted);
  if (waitsFor) return { what: "waits", kind: waitsFor.kind };
  const limited = limitedAgents(context, pointer);
  const claimed = await state.runs.claim(pointer, pointer.seq, worker, versions, limited, delivery);
  return claimed.what === "limited" ? claimInTurn(context, pointer, worker, claimed) : claimed;
}

/** The agents whose runs need a share: `*` where the run's tenant has a limit, or every agent. */
function limitedAgents({ concurrency }: { concurrency: ConcurrencyLimits }, { tenant }: Pointer): string[] {
  const { tenants, agents } = concurrency;
  return Object.hasOwn(tenants, tenant) || Object.hasOwn(tenants, "*") ? ["*"] : Object.keys(agents);
}
