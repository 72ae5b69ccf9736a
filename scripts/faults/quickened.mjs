/** Seconds of the exercise for a minute of the rules. */
const MINUTE = 3;
/** Seconds that a window has at least: rates need some scrapes, and another worker a lease to take over. */
const LEAST_WINDOW = 15;

/**
 * The settings and rules of infra/prometheus at the speed of the exercise: windows, how long something must hold, and
 * ages that are asked for shrink alike. What a single call may take does not: it is as slow here as elsewhere.
 */
export function quickened(text) {
  const window = (minutes, step) =>
    `[${Math.max(LEAST_WINDOW, MINUTE * minutes)}s${step ? `:${MINUTE / 3}s` : ""}]`;
  return text
    .replace(/for: (\d+)m/g, (_, minutes) => `for: ${MINUTE * minutes}s`)
    .replace(/(scrape|evaluation)_interval: 15s/g, "$1_interval: 2s")
    .replace(/\[(\d+)m(:1m)?\]/g, (_, minutes, step) => window(minutes, step))
    .replace(/\[(\d+)h\]/g, (_, hours) => window(60 * hours))
    .replace(/(_age_seconds\) > )(\d+)/g, (_, what, seconds) => what + (seconds * MINUTE) / 60);
}
