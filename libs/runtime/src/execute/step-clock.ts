import { abortWith, DroverError } from "@drover/contracts";

/**
 * The time of one activation, which others may end too. A step is the time between two checkpoints of the root graph; the time that
 * storing one takes is nobody's fault and does not count.
 */
export class StepClock {
  readonly #late = new AbortController();
  readonly #letGo: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param outer ends the activation as well */
  constructor(
    private readonly stepMs: number | undefined,
    outer: AbortSignal,
  ) {
    this.#letGo = abortWith(this.#late, outer);
  }

  /** Fires when the activation is to end, with the reason. */
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

  /** The activation is over: nothing ends it any more. */
  stop(): void {
    this.pause();
    this.#letGo();
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
