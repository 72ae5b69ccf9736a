/**
 * Whether this worker makes progress. Unhealthy, so that whoever started it starts it anew: when work waits, it has
 * room and takes none; when it is full and nothing ends; when Redis answers it no more; when its event loop is
 * blocked most of the time. Not for a Redis that answers and refuses everyone, being full: that is for an alert to say.
 * Ready: when it can take a run.
 */
import type { ProbesOptions } from "@drover/telemetry";
import { LoopLag } from "./loop-lag.js";
import type { RedisAnswers } from "./redis-answers.js";
import { repeat } from "./repeat.js";

/** The share of the time for which code may block the event loop. */
const MOST_LAG = 0.5;

export interface LivenessOptions {
  /** Milliseconds for which nothing may move. */
  stallMs: number;
  leaseMs: number;
  runTimeoutMs: number;
  concurrency: number;
  /** Runs in hand. */
  active: () => number;
  /** How Redis answers this worker's signs of life. */
  answers: Pick<RedisAnswers, "unknownMs" | "silenceMs" | "refusal">;
  /** Whether it is meant to take runs: started, not leaving, and not with a run that must be alone. */
  isTaking: () => boolean;
  /** Whether the connection over which it takes them stands. */
  isConnected: () => boolean;
  /** Deliveries on the queue that any worker could take now. */
  waiting: () => Promise<number>;
}

export class Liveness {
  /** By this process's monotonic clock: the last delivery taken, and the last run that was left. */
  private tookAt = performance.now();
  private leftAt = performance.now();
  /** Since when work waits for which there is room; null where that is not so. */
  private waitsSince: number | null = null;
  private readonly lag: LoopLag;
  private sampling: ReturnType<typeof repeat> | null = null;

  constructor(private readonly options: LivenessOptions) {
    this.lag = new LoopLag(options.stallMs);
  }

  start(): void {
    this.lag.start();
    // A Redis that does not answer is what `lease` sees.
    this.sampling = repeat(
      this.options.stallMs / 10,
      () => this.look(),
      () => {},
    );
  }

  async stop(): Promise<void> {
    this.lag.stop();
    await this.sampling?.stop();
  }

  took(): void {
    this.tookAt = performance.now();
  }

  left(): void {
    this.leftAt = performance.now();
  }

  async look(): Promise<void> {
    const { isTaking, active, concurrency, waiting, answers } = this.options;
    // Nothing can move in a Redis that refuses everyone, and a worker that is started anew would not move it either.
    if (answers.refusal !== null) this.leftAt = performance.now();
    const hasRoom = () => isTaking() && active() < concurrency;
    const isWaiting = answers.refusal === null && hasRoom() && (await waiting()) > 0 && hasRoom();
    this.waitsSince = isWaiting ? (this.waitsSince ?? performance.now()) : null;
  }

  get checks(): ProbesOptions["checks"] {
    const { stallMs, leaseMs, runTimeoutMs, concurrency, active, answers, isTaking, isConnected } =
      this.options;
    // Four lost signs of life are none; a long lease has long pauses between them.
    const mostSilence = Math.min(4 * leaseMs, Math.max(stallMs, leaseMs));
    const since = (at: number) => performance.now() - at;
    return {
      health: {
        lease: () => ({
          ok: answers.silenceMs < mostSilence,
          reason: "Redis has not answered the heartbeat",
        }),
        taking: () => ({
          ok: this.waitsSince === null || since(Math.max(this.waitsSince, this.tookAt)) < stallMs,
          reason: "runs wait on the queue, there is room for them, and none is taken",
        }),
        progress: () => ({
          ok: active() < concurrency || since(this.leftAt) < runTimeoutMs,
          reason: "all slots are taken and no run has ended for longer than a run may take",
        }),
        eventLoop: () => ({
          ok: this.lag.share < MOST_LAG,
          reason: "code of an agent or a tool blocks the event loop most of the time",
        }),
      },
      ready: {
        taking: () => ({
          ok: isTaking(),
          reason: "it has not started to take runs, is leaving, or works on one that must be alone",
        }),
        redis: () => ({
          ok: isConnected() && answers.refusal === null && answers.unknownMs < Math.max(leaseMs, 1000),
          reason: answers.refusal ?? "Redis does not answer",
        }),
      },
    };
  }
}
