/** Runs of a batch that may wait or run at once: enough for any fleet, few enough for Redis's memory. */
const MOST_AHEAD = 5000;

/** Keeps the producer from running away from the workers. */
export class Room {
  private ahead = 0;
  private wake: () => void = () => {};

  /** @param ahead runs that wait or run now */
  update(ahead: number): void {
    this.ahead = ahead;
    if (ahead < MOST_AHEAD) this.wake();
  }

  /** Resolves when there is room for more runs, or the signal fires. */
  async wait(signal: AbortSignal): Promise<void> {
    while (this.ahead >= MOST_AHEAD && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }
}
