import { setTimeout as sleep } from "node:timers/promises";
import { isDroverError } from "@drover/contracts";
import { asDroverError } from "@drover/state";

/** Milliseconds for which a batch waits for a Redis that went away. */
const PATIENCE_MS = 120_000;
const AGAIN_MS = 1000;

export type Patiently = <T>(act: () => Promise<T>) => Promise<T>;

/**
 * Repeats what may be repeated while Redis is away, for two minutes, and says so once each time it goes. Throws the
 * last failure after that, when the signal fires, and any other failure at once.
 */
export function patience(signal: AbortSignal, onNote: (text: string) => void): Patiently {
  let away = false;
  return async (act) => {
    const start = performance.now();
    for (;;) {
      try {
        const result = await act();
        if (away) onNote("Redis answers again.");
        away = false;
        return result;
      } catch (raw) {
        const error = asDroverError(raw);
        const isAway = isDroverError(error, "NO_REDIS");
        if (!isAway || signal.aborted || performance.now() - start > PATIENCE_MS) throw error;
        if (!away) onNote("Redis does not answer; waiting for it. What was accepted is not lost.");
        away = true;
        await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
      }
    }
  };
}
