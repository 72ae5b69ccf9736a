import { DroverError } from "@drover/contracts";

/**
 * The time limits of one activation. A step is the time between two checkpoints of the root graph; the time that
 * storing one takes is nobody's fault and does not count.
 */
export class StepClock {
  readonly #late = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly stepMs: number | undefined) {}

  /** Fires when a time is over, with the reason. */
  get signal(): AbortSignal {
    return this.#late.signal;
  }

  begin(): void {
    this.pause();
    if (this.stepMs === undefined || this.signal.aborted) return;
    this.#timer = setTimeout(() => this.end(stepTimeout(this.stepMs)), this.stepMs);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the activation: nothing more is called. */
  end(reason: DroverError): void {
    this.pause();
    this.#late.abort(reason);
  }
}

function stepTimeout(stepMs: number | undefined): DroverError {
  return new DroverError(
    "STEP_TIMEOUT",
    `One step of the agent took longer than ${stepMs} ms. See in its thread which, then raise policy.timeLimits.stepMs or make it faster.`,
  );
}
