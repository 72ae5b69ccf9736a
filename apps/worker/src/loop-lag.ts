/** Milliseconds between two samples. */
const EVERY_MS = 500;

/** How much of the last while the event loop was kept from its timers: by code that computes and does not wait. */
export class LoopLag {
  private readonly lost: { at: number; ms: number }[] = [];
  private expected = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly windowMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  start(): void {
    this.expected = this.now() + EVERY_MS;
    this.timer = setInterval(() => this.sample(), EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
  }

  sample(): void {
    const at = this.now();
    this.lost.push({ at, ms: Math.max(0, at - this.expected) });
    this.expected = at + EVERY_MS;
    while ((this.lost[0]?.at ?? at) < at - this.windowMs) this.lost.shift();
  }

  /** 0 to 1: the share of the last `windowMs` that was lost. One stop, however long, is over with its window. */
  get share(): number {
    const from = this.now() - this.windowMs;
    const lost = this.lost.reduce((sum, { at, ms }) => sum + Math.min(ms, Math.max(0, at - from)), 0);
    return Math.min(1, lost / this.windowMs);
  }
}
