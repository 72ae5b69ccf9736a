import { DroverError } from "@drover/contracts";
import { type AgentTerms, memberOf, type State, type WorkerDescription } from "@drover/state";
import { type ActiveRuns, LEASE_IS_LOST } from "./active-runs.js";
import { RedisAnswers } from "./redis-answers.js";

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
  /** How Redis answers. */
  readonly answers: RedisAnswers;

  constructor(private readonly options: HeartbeatOptions) {
    this.answers = new RedisAnswers(options.state.redis, options.leaseMs / 4);
  }

  get workerId(): string {
    return `${this.options.baseId}.${this.life}`;
  }

  async start(): Promise<void> {
    await this.beat();
    this.timer = setInterval(() => {
      if (this.answers.unknownMs > this.options.leaseMs) this.options.activeRuns.stopAll(LEASE_IS_LOST);
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
    const announced = this.registered ? null : { agents, terms };
    const reply = await state.workers
      .heartbeat(this.workerId, leaseMs, this.options.describe(), announced)
      .catch((error: unknown) => {
        this.answers.failed(sentAt, error);
        throw error;
      });
    this.answers.took(sentAt);
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

  /**
   * Stops a run of this worker with the reason that its record gives. Without one the word came late: the run was
   * cancelled, and somebody has tried it again.
   */
  async cancel(member: string, run: Parameters<State["reader"]["run"]>[0]): Promise<void> {
    const reason = (await this.options.state.reader.run(run, false))?.cancelReason;
    if (reason) this.options.activeRuns.stop(member, new DroverError("CANCELLED", reason));
  }

  /** The last word: this worker leaves, and has nothing in hand. */
  async end(): Promise<void> {
    this.ended = true;
    if (this.timer) clearInterval(this.timer);
    await this.beating;
    await this.options.state.workers.remove(this.workerId);
  }
}
