/** What a label says in place of a value that is one too many or that no label should hold. */
export const OTHER = "other";

/**
 * A name, model or version: no spaces, so that no sentence becomes a label, and no `@` before a letter, so that no
 * address does.
 */
const FIT_FOR_A_LABEL = /^(?:[A-Za-z0-9_.:/+-]|@(?=\d)){1,128}$/;

/**
 * Keeps the number of series bounded: the first `most` distinct values of a label pass, in all metrics alike, every
 * later one becomes `other`. Whoever sends a million names adds one series.
 */
export function createLabelBounds(most: number): (label: string, value: string) => string {
  const seen = new Map<string, Set<string>>();
  return (label, value) => {
    const values = seen.get(label) ?? new Set();
    seen.set(label, values);
    if (values.has(value)) return value;
    if (values.size >= most || !FIT_FOR_A_LABEL.test(value)) return OTHER;
    values.add(value);
    return value;
  };
}
