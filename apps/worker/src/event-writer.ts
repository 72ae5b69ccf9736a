import type { Lease, RunEventData } from "@drover/contracts";
import { appendEvents, type State } from "@drover/state";

/** Milliseconds for which events are gathered, so that a fast stream costs few commands. */
const GATHER_MS = 20;

/** Writes a run's events in order. A failed write is told to `onError` once and ends the writing. */
export class EventWriter {
  private pending: RunEventData[] = [];
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> = Promise.resolve();
  private failed = false;

  constructor(
    private readonly state: State,
    private readonly lease: Lease,
    private readonly onError: (error: unknown) => void,
  ) {}

  write(event: RunEventData): void {
    if (this.failed) return;
    this.pending.push(event);
    this.timer ??= setTimeout(() => this.send(), GATHER_MS);
  }

  /** Resolves when all that was given is written. */
  async flush(): Promise<void> {
    this.send();
    await this.writing;
  }

  private send(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const events = this.pending;
    if (events.length === 0) return;
    this.pending = [];
    const { redis, keys, retention, codec } = this.state;
    this.writing = this.writing.then(async () => {
      if (this.failed) return;
      try {
        await appendEvents(redis, keys, this.lease, events, retention.eventsLength, codec);
      } catch (error) {
        this.failed = true;
        this.onError(error);
      }
    });
  }
}
