import type { Metrics } from "./metrics.js";

const EVERY_MS = 100;
/** A stop of the whole process (a suspended machine) counts as at most this many samples. */
const MOST_SAMPLES = 600;
/** Milliseconds from which a stop is told of by itself. */
const LONG_MS = 1000;

/**
 * Measures every 100 ms how late a timer is and records it as drover_event_loop_lag_seconds. A long stop is counted
 * once for every sample that it swallowed, with the time that was left of it, so that quantiles tell the share of
 * time and not of samples. `onLong` is told of each stop of a second or more, in milliseconds, before anything else that
 * waited for its end goes on. Returns what stops it; keeps no process alive.
 */
export function watchEventLoop(metrics: Metrics, onLong: (ms: number) => void = () => {}): () => void {
  let expected = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    let late = Math.max(0, now - expected);
    if (late >= LONG_MS) onLong(late);
    for (let sample = 0; sample < MOST_SAMPLES && (sample === 0 || late > 0); sample += 1) {
      metrics.observe("drover_event_loop_lag_seconds", {}, late / 1000);
      late -= EVERY_MS;
    }
    expected = now + EVERY_MS;
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
