import { abortWith, DroverError } from "@drover/contracts";
import type { Times } from "../policy/policy.js";

/**
 * The time of one activation, which others may end too. A step is the time between two checkpoints of the root graph;
 * the time that storing one takes is nobody's fault and does not count.
 */
export class StepClock {
  readonly #late = new AbortController();
  readonly #letGo: () => void;
  readonly #stepMs: number | undefined;
  readonly #whole: NodeJS.Timeout | undefined;
  #step: NodeJS.Timeout | undefined;

  /** @param outer ends the activation as well */
  constructor({ runMs, stepMs }: Times, outer: AbortSignal) {
    this.#letGo = abortWith(this.#late, outer);
    this.#stepMs = stepMs;
    if (runMs !== undefined) this.#whole = setTimeout(() => this.end(runTimeout(runMs)), runMs);
  }

  /** Fires when the activation is to end, with the reason. */
  get signal(): AbortSignal {
    return this.#late.signal;
  }

  begin(): void {
    this.pause();
    const ms = this.#stepMs;
    if (ms === undefined || this.signal.aborted) return;
    this.#step = setTimeout(() => this.end(stepTimeout(ms)), ms);
  }

  pause(): void {
    clearTimeout(this.#step);
  }

  /** The activation is over: nothing ends it any more. */
  stop(): void {
    this.pause();
    clearTimeout(this.#whole);
    this.#letGo();
  }

  /** Ends the activation: nothing more is called. */
  end(reason: DroverError): void {
    this.pause();
    this.#late.abort(reason);
  }
}

function runTimeout(runMs: number): DroverError {
  return new DroverError(
    "RUN_TIMEOUT",
    `The run took longer than ${runMs} ms. See in its thread which step took the time, then make it faster or raise timeLimits.runMs of its policy, or of the fleet's where that is lower.`,
  );
}

function stepTimeout(stepMs: number): DroverError {
  return new DroverError(
    "STEP_TIMEOUT",
    `One step of the agent took longer than ${stepMs} ms. See in its thread which, then make it faster or raise timeLimits.stepMs of its policy, or of the fleet's where that is lower.`,
  );
}
