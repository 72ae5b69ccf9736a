/**
 * Repairs what crashes left, on one worker at a time. Every step may be repeated or run twice at once: what is
 * found is checked again by the script that changes it.
 */
import { type ErrorInfo, isFinal } from "@drover/contracts";
import type { ActivationRef, RunRef, State } from "@drover/state";
import type { AnswerReader } from "./approvals.js";
import { type ExpiryListener, expireApprovals } from "./expiry.js";
import { change, publish } from "./publisher.js";
import { redeliver, unparkForgotten } from "./run-control.js";
import { jobId, type RunQueue } from "./run-queue.js";
import { repairShares } from "./share-repair.js";
import { stopIfAsked } from "./start-runs.js";

export const REPAIRS = [
  "takeover",
  "outbox",
  "pointer",
  "early",
  "share",
  "parked",
  "deadline",
  "approval",
  "purge",
] as const;
export type Repair = (typeof REPAIRS)[number];

/** Milliseconds that a producer has to publish what it wrote, before the sweeper does it. */
const OUTBOX_GRACE_MS = 5000;
/** Milliseconds that an activation is left on the queue before the queue is asked whether it has it. */
const POINTER_GRACE_MS = 15_000;
/** Milliseconds after a worker was found gone for which what was fetched is looked at in every round. */
const AFTER_DEATH_MS = 60_000;
/** Every so many rounds it is looked at anyway: Redis's reply with a job may have been lost on the way. */
const FETCHED_ROUNDS = 10;
/**
 * Milliseconds after which a thread is looked at a second time: what a producer sent may arrive long after its mark,
 * when the producer itself has given up.
 */
const SECOND_LOOK_MS = 30_000;
const PAGE = 200;
/** Runs that one round forgets at most. */
const MOST_PURGED = 10_000;

const TOO_LATE: ErrorInfo = {
  code: "DEADLINE_EXCEEDED",
  message: "The deadline passed before the run ended. Give it more time, or more workers.",
};

export class Sweeper {
  /** How often in a row the queue held fewer pointers than it should: one look may fall between two writes. */
  private short = 0;
  /** When a worker was last found gone, by this process's monotonic clock; a new sweeper may have missed one. */
  private goneAt = performance.now();

  private rounds = 0;
  /** Until when this worker has the sweeper's lease for sure, by this process's monotonic clock. */
  private leadsUntil = 0;
  /** The deliveries that were fetched and not claimed at the last look. */
  private unclaimed = new Set<string>();

  constructor(
    private readonly state: State,
    private readonly queue: RunQueue,
    private readonly worker: () => string,
    private readonly onRepair: (repair: Repair, count: number) => void = () => {},
    /** Makes what a policy decides about an approval whose time is over into what its graph takes. */
    private readonly read: AnswerReader = (_, answer) => answer,
    private readonly onExpired: ExpiryListener = () => {},
    /** Whether Redis was away until a moment ago: who is overdue then did not die, it has not reached Redis yet. */
    private readonly redisWasAway: () => boolean = () => false,
  ) {}

  /** The first part of a round alone: what people wait for must not wait for the other repairs. */
  async rescue(leaseMs: number): Promise<void> {
    if (await this.holdsLease(leaseMs)) this.note("takeover", await this.takeOver());
  }

  /** One round, if this worker has the sweeper's lease. `leaseMs` is how long the lease lasts without a round. */
  async sweep(leaseMs: number): Promise<void> {
    if (!(await this.holdsLease(leaseMs))) return;
    const now = await this.state.indexes.now();
    this.note("takeover", await this.takeOver());
    this.note("pointer", await this.redeliverUnclaimed());
    this.note("early", await this.redeliverEarly(now));
    this.note("outbox", await this.publishMarked(now));
    this.note("pointer", await this.redeliverLost(now));
    this.note("share", await repairShares(this.state, this.queue, PAGE));
    this.note("parked", await unparkForgotten(this.state, this.queue));
    this.note("deadline", await this.endOverdue(now));
    this.note("approval", await this.expireApprovals(now));
    this.note("purge", await this.purge(now));
  }

  private expireApprovals(now: number): Promise<number> {
    return expireApprovals(this.state, this.queue, this.read, {
      now,
      limit: PAGE,
      onExpired: this.onExpired,
    });
  }

  /** What is over goes as fast as it comes, and a round still ends. */
  private async purge(now: number): Promise<number> {
    let purged = 0;
    for (let page = 0; page < MOST_PURGED / PAGE; page += 1) {
      const count = await this.state.indexes.purge(now, PAGE);
      purged += count;
      if (count < PAGE) break;
    }
    return purged;
  }

  private note(repair: Repair, count: number): void {
    if (count > 0) this.onRepair(repair, count);
  }

  /** Whether this worker is the one that sweeps: at most one of the fleet is. */
  get leads(): boolean {
    return performance.now() < this.leadsUntil;
  }

  private async holdsLease(leaseMs: number): Promise<boolean> {
    const askedAt = performance.now();
    const holds = await this.takeLease(leaseMs);
    this.leadsUntil = holds ? askedAt + leaseMs : 0;
    return holds;
  }

  private async takeLease(leaseMs: number): Promise<boolean> {
    const key = this.state.keys.index("sweeper");
    const { redis } = this.state;
    // A full Redis refuses to set a key and lets one be kept: whoever tells of it must stay.
    if ((await redis.get(key)) === this.worker() && (await redis.pexpire(key, leaseMs)) === 1) return true;
    return (await redis.set(key, this.worker(), "PX", leaseMs, "NX")) === "OK";
  }

  /** Runs of workers that are gone go on elsewhere. */
  private async takeOver(): Promise<number> {
    let taken = 0;
    for (const { worker, claims } of await this.state.workers.gone(PAGE)) {
      // Redis was away, for everyone: this worker's next heartbeat says that it lives.
      if (worker === this.worker()) continue;
      this.goneAt = performance.now();
      taken += await takeOver(this.state, this.queue, worker, claims, !this.redisWasAway());
      await this.state.workers.remove(worker, true);
    }
    return taken;
  }

  /** What a producer wrote and did not publish. */
  private async publishMarked(now: number): Promise<number> {
    let published = 0;
    const { marks, runs } = this.state;
    for (const found of await marks.before(now - OUTBOX_GRACE_MS, PAGE)) {
      const transitions = await runs.unpublished(found.thread);
      await publish(this.state, this.queue, transitions);
      await stopIfAsked(this.state, this.queue, found.thread);
      if (found.isSecondLook) await marks.drop(found);
      else await marks.lookAgain(found, now + SECOND_LOOK_MS);
      published += transitions.length;
    }
    return published;
  }

  /**
   * What a worker that is gone had fetched and not yet claimed: BullMQ itself would give it back only when its lock
   * is over. A worker that lives claims at once what it fetched: what two looks find is not claimed by anyone. A
   * second delivery does no harm.
   */
  private async redeliverUnclaimed(): Promise<number> {
    this.rounds += 1;
    const isAfterDeath = performance.now() - this.goneAt < AFTER_DEATH_MS;
    if (!isAfterDeath && this.unclaimed.size === 0 && this.rounds % FETCHED_ROUNDS !== 0) return 0;
    const due = await this.state.indexes.areDue(await this.queue.fetched());
    const stuck = due.filter((pointer) => this.unclaimed.has(jobId(pointer)));
    this.unclaimed = new Set(due.map(jobId));
    const back = await Promise.all(stuck.map((run) => redeliver(this.state, this.queue, run)));
    return back.filter(Boolean).length;
  }

  /** Runs that a worker with a wrong clock was given before their delay was over. */
  private async redeliverEarly(now: number): Promise<number> {
    const runs = await this.state.indexes.early(now, PAGE);
    await Promise.all(
      runs.map(async (run) => {
        await redeliver(this.state, this.queue, run);
        await this.state.indexes.dropEarly(run);
      }),
    );
    return runs.length;
  }

  /**
   * Activations that should be on the queue and are not: the queue may have lost one, or everything. What workers
   * have in hand is not due any more, so that as many must wait as are due.
   */
  private async redeliverLost(now: number): Promise<number> {
    const { waiting, delayed } = await this.queue.counts();
    this.short = (await this.state.indexes.countDue()) > waiting + delayed ? this.short + 1 : 0;
    if (this.short < 3) return 0;
    let redelivered = 0;
    for (const run of await this.state.indexes.due(now - POINTER_GRACE_MS, PAGE)) {
      const pointer = await this.state.reader.pointer(run);
      if (pointer && (await this.queue.has(pointer))) continue;
      if (pointer && (await redeliver(this.state, this.queue, run))) redelivered += 1;
      else await this.state.indexes.dropDue(run);
    }
    return redelivered;
  }

  private async endOverdue(now: number): Promise<number> {
    let ended = 0;
    for (const run of await this.state.indexes.overdue(now, PAGE)) {
      const make = async () => ({ transition: await this.state.runs.expire(run, TOO_LATE) });
      const { transition } = await change(this.state, this.queue, run, make);
      if (transition) ended += 1;
      else if (!(await this.hasDeadline(run))) await this.state.indexes.dropDeadline(run);
    }
    return ended;
  }

  private async hasDeadline(ref: RunRef): Promise<boolean> {
    const run = await this.state.reader.run(ref, false);
    return run !== null && run.deadlineAt !== null && !isFinal(run.status);
  }
}

/**
 * Takes runs away from a worker that died, or that leaves and could not hand them over. Gives how many it had.
 * A run stays noted as that worker's until everything about it is published.
 */
export async function takeOver(
  state: State,
  queue: RunQueue,
  worker: string,
  claims: readonly ActivationRef[],
  died: boolean,
): Promise<number> {
  const taken = await Promise.all(
    claims.map(async (claim) => {
      const reply = await state.runs.takeover(claim, worker, died);
      await publish(state, queue, reply.transitions);
      await state.workers.dropClaim(worker, claim);
      return reply.taken;
    }),
  );
  return taken.filter(Boolean).length;
}
