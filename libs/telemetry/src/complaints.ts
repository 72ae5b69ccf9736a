import type { LogMethod } from "./logger.js";

/** Milliseconds for which a failure that comes again and again is not logged again. */
const QUIET_MS = 30_000;
const MOST_KINDS = 100;

/**
 * Logs failures of a loop that goes on: each message with each error code once, then at most every 30 seconds with
 * how often it came in between (`again`). A Redis that is away for an hour must not fill the log with its refusals.
 */
export class Complaints {
  private readonly said = new Map<string, { at: number; again: number }>();

  /**
   * @param named gives an error the code that readers know it by
   * @param now milliseconds of a clock that never goes back
   */
  constructor(
    private readonly named: (error: unknown) => unknown = (error) => error,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @param log where it goes, such as `logger.warn` */
  say(log: LogMethod, message: string, error: unknown, fields: Record<string, unknown> = {}): void {
    const err = this.named(error);
    const kind = `${message} ${(err as { code?: unknown } | null)?.code}`;
    const known = this.said.get(kind);
    const at = this.now();
    if (known && at - known.at < QUIET_MS) {
      known.again += 1;
      return;
    }
    if (this.said.size >= MOST_KINDS) this.said.clear();
    this.said.set(kind, { at, again: 0 });
    log({ ...fields, err, ...(known && known.again > 0 ? { again: known.again } : {}) }, message);
  }
}
