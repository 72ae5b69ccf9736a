import type { Redaction } from "@drover/contracts";

/** Counts what one call replaced, by type, strategy and place. */
export class Tally {
  readonly #counts = new Map<string, Redaction>();

  add(redaction: Omit<Redaction, "count">): void {
    const key = `${redaction.type} ${redaction.strategy} ${redaction.place}`;
    const counted = this.#counts.get(key);
    if (counted) counted.count++;
    else this.#counts.set(key, { ...redaction, count: 1 });
  }

  report(listener: ((redaction: Redaction) => void) | undefined): void {
    if (listener) for (const redaction of this.#counts.values()) listener(redaction);
  }
}
