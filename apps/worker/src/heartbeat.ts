import { DroverError } from "@drover/contracts";
import { type AgentTerms, memberOf, type State, type WorkerDescription } from "@drover/state";
import { type ActiveRuns, LEASE_IS_LOST } from "./active-runs.js";

/** Milliseconds that workers may take to reach a Redis that is back: they try again every two seconds at least. */
const ALL_ARE_BACK_MS = 4000;

export interface HeartbeatOptions {
  state: State;
  activeRuns: ActiveRuns;
  leaseMs: number;
  /** Where this worker is known by, one for each life. */
  baseId: string;
  agents: Record<string, string>;
  /** What others must know of their policies. */
  terms: Record<string, AgentTerms>;
  describe: () => WorkerDescription;
  onPauses: (pauses: Set<string>) => void;
  /** Told how many milliseconds Redis took to answer. */
  onAnswer: (ms: number) => void;
  onError: (error: unknown) => void;
}

/**
 * Says four times a lease that this worker lives, and learns what it should stop or leave alone. Without an
 * answer for a whole lease it stops its own runs: by then others have them.
 */
export class Heartbeat {
  private life = 1;
  private registered = false;
  private timer: NodeJS.Timeout | null = null;
  private beating: Promise<void> = Promise.resolve();
  private isBeating = false;
  private ended = false;
  /** Milliseconds of this process's monotonic clock at the last answer. */
  private answeredAt = performance.now();
  /** The same, when the connection to Redis was made again; infinite while there is none. */
  private backAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: HeartbeatOptions) {
    const { redis } = options.state;
    redis.on("close", () => {
      this.backAt = Number.POSITIVE_INFINITY;
    });
    redis.on("ready", () => {
      if (this.backAt === Number.POSITIVE_INFINITY) this.backAt = performance.now();
    });
  }

  get workerId(): string {
    return `${this.options.baseId}.${this.life}`;
  }

  /** Milliseconds since Redis last answered. */
  get silenceMs(): number {
    return performance.now() - this.answeredAt;
  }

  /** Whether Redis is away, or came back so lately that other workers may not have reached it yet. */
  get redisWasAway(): boolean {
    return performance.now() - this.backAt < ALL_ARE_BACK_MS;
  }

  async start(): Promise<void> {
    await this.beat();
    this.timer = setInterval(() => {
      if (this.silenceMs > this.options.leaseMs) this.options.activeRuns.stopAll(LEASE_IS_LOST);
      if (this.isBeating) return;
      this.isBeating = true;
      this.beating = this.beat()
        .catch(this.options.onError)
        .finally(() => {
          this.isBeating = false;
        });
    }, this.options.leaseMs / 4);
  }

  private async beat(): Promise<void> {
    if (this.ended) return;
    const { state, leaseMs, agents, terms, activeRuns } = this.options;
    const sentAt = performance.now();
    const reply = await state.workers.heartbeat(
      this.workerId,
      leaseMs,
      this.options.describe(),
      this.registered ? null : { agents, terms },
    );
    this.answeredAt = sentAt;
    this.options.onAnswer(performance.now() - sentAt);
    if (!reply.alive) {
      activeRuns.stopAll(LEASE_IS_LOST);
      this.life += 1;
      this.registered = false;
      return this.beat();
    }
    this.registered = true;
    this.options.onPauses(reply.pauses);
    for (const run of reply.cancels) {
      await this.cancel(memberOf(run), run);
      await state.workers.hasStopped(this.workerId, memberOf(run));
    }
  }

  /** Stops a run of this worker with the reason that its record gives. */
  async cancel(member: string, run: Parameters<State["reader"]["run"]>[0]): Promise<void> {
    const found = await this.options.state.reader.run(run, false);
    this.options.activeRuns.stop(
      member,
      new DroverError("CANCELLED", found?.cancelReason ?? "Cancelled on request."),
    );
  }

  /** The last word: this worker leaves, and has nothing in hand. */
  async end(): Promise<void> {
    this.ended = true;
    if (this.timer) clearInterval(this.timer);
    await this.beating;
    await this.options.state.workers.remove(this.workerId);
  }
}
