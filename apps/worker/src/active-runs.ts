import { DroverError } from "@drover/contracts";
import { memberOf, type RunRef } from "@drover/state";

export interface ActiveRun {
  signal: AbortSignal;
  stop: (reason: DroverError) => void;
  done: () => void;
}

/** The runs that this process works on, and the way to stop them. */
export class ActiveRuns {
  private readonly runs = new Map<string, { controller: AbortController; agent: string }>();
  /** Claims whose answer is not known yet, by run. */
  private readonly claiming = new Map<string, number>();
  /** Fires when the worker is asked to leave: runs stop at their next step boundary. */
  readonly drain = new AbortController();

  get size(): number {
    return this.runs.size;
  }

  /** How many runs of each agent are in hand. */
  byAgent(): Record<string, number> {
    const counts = new Map<string, number>();
    for (const { agent } of this.runs.values()) counts.set(agent, (counts.get(agent) ?? 0) + 1);
    return Object.fromEntries(counts);
  }

  /** Whether the run is worked on, or about to be claimed. */
  has(run: RunRef): boolean {
    const member = memberOf(run);
    return this.runs.has(member) || this.claiming.has(member);
  }

  /** A claim is on its way; the function that this gives must be called when its answer is known. */
  claims(run: RunRef): () => void {
    const member = memberOf(run);
    this.claiming.set(member, (this.claiming.get(member) ?? 0) + 1);
    let isAnswered = false;
    return () => {
      if (isAnswered) return;
      isAnswered = true;
      const others = (this.claiming.get(member) ?? 1) - 1;
      if (others > 0) this.claiming.set(member, others);
      else this.claiming.delete(member);
    };
  }

  /** Registers a run; `done` must be called at its end, whatever happened. */
  begin(run: RunRef, agent: string): ActiveRun {
    const member = memberOf(run);
    const controller = new AbortController();
    this.runs.set(member, { controller, agent });
    return {
      signal: controller.signal,
      stop: (reason) => controller.abort(reason),
      done: () => {
        if (this.runs.get(member)?.controller === controller) this.runs.delete(member);
      },
    };
  }

  /** Stops one run, if it is here. */
  stop(member: string, reason: DroverError): void {
    this.runs.get(member)?.controller.abort(reason);
  }

  stopAll(reason: DroverError): void {
    for (const { controller } of this.runs.values()) controller.abort(reason);
  }
}

export const LEASE_IS_LOST = new DroverError(
  "LEASE_LOST",
  "This worker gave no sign of life in time; others have taken its runs over.",
);
