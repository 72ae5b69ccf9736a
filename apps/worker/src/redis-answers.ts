import { isRefusalForAll, type Redis } from "@drover/state";

/** Milliseconds that workers may take to reach a Redis that is back: they connect again every two seconds at least. */
const ALL_ARE_BACK_MS = 4000;

/** How Redis answered this worker's signs of life. Times are milliseconds of this process's monotonic clock. */
export class RedisAnswers {
  private takenAt = performance.now();
  private answeredAt = this.takenAt;
  private refusedWith: string | null = null;
  /** Since when Redis can be worked with; infinite while it is away or refuses everyone. */
  private backAt = Number.NEGATIVE_INFINITY;

  /** @param betweenMs milliseconds between two signs of life: that long others may take to notice as well */
  constructor(
    redis: Redis,
    private readonly betweenMs: number,
  ) {
    redis.on("close", () => {
      this.backAt = Number.POSITIVE_INFINITY;
    });
    redis.on("ready", () => this.isBack());
  }

  /** Redis took the sign of life that was sent at `sentAt`. */
  took(sentAt: number): void {
    this.takenAt = sentAt;
    this.answeredAt = sentAt;
    this.refusedWith = null;
    this.isBack();
  }

  /** The sign of life that was sent at `sentAt` failed. */
  failed(sentAt: number, error: unknown): void {
    if (!isRefusalForAll(error)) return;
    this.answeredAt = sentAt;
    this.refusedWith = error.message;
    this.backAt = Number.POSITIVE_INFINITY;
  }

  /** Milliseconds since Redis last took a sign of life. */
  get unknownMs(): number {
    return performance.now() - this.takenAt;
  }

  /** Milliseconds since Redis last answered, be it with a refusal. */
  get silenceMs(): number {
    return performance.now() - this.answeredAt;
  }

  /** Why it refused everyone when it last answered; null where it did not. */
  get refusal(): string | null {
    return this.refusedWith;
  }

  /** Whether Redis is away or full, or came back so lately that other workers may not have told it yet that they live. */
  get wasAway(): boolean {
    return performance.now() - this.backAt < Math.max(ALL_ARE_BACK_MS, 2 * this.betweenMs);
  }

  private isBack(): void {
    if (this.backAt === Number.POSITIVE_INFINITY) this.backAt = performance.now();
  }
}
