import type { State } from "@drover/state";
import type { Queue } from "bullmq";
import type { Notices } from "./notices.js";

/** Notices of one queue that one look drops at most. */
const MOST_DROPPED = 10_000;
/** Milliseconds by which clocks of those who write notices may be ahead. */
const AHEAD_MS = 86_400_000;

/**
 * Keeps reply queues from growing for ever: of notices that nobody reads, those that are too many or too old go, the
 * oldest first. What is read in time is never touched.
 */
export class ReplyTrimmer {
  private cursor = "0";

  /** @param onDropped told how many notices of a queue went */
  constructor(
    private readonly state: State,
    private readonly notices: Notices,
    private readonly onDropped: (queue: string, count: number) => void,
  ) {}

  /** Looks at some queues; the next call looks at the next ones. */
  async trim(): Promise<void> {
    const { next, queues } = await this.state.replyQueues.page(this.cursor);
    this.cursor = next;
    const now = await this.state.indexes.now();
    for (const { name, usedAt } of queues) {
      const queue = this.notices.queue(name);
      const dropped = await this.dropFrom(queue, now);
      if (dropped > 0) this.onDropped(name, dropped);
      else if (usedAt < now - this.lifeMs) await this.forget(queue, usedAt);
    }
  }

  private get lifeMs(): number {
    return this.state.retention.replies * 1000;
  }

  /** BullMQ notes each cleaning in the queue's stream: only what has something to go is cleaned. */
  private async dropFrom(queue: Queue, now: number): Promise<number> {
    const [waiting, [oldest]] = await Promise.all([
      queue.getJobCountByTypes("wait"),
      queue.getJobs(["wait"], 0, 0, true),
    ]);
    const excess = Math.min(waiting - this.state.retention.repliesLength, MOST_DROPPED);
    if (excess > 0) return (await queue.clean(-AHEAD_MS, excess, "wait")).length;
    const isOld = oldest !== undefined && oldest.timestamp < now - this.lifeMs;
    return isOld ? (await queue.clean(this.lifeMs, MOST_DROPPED, "wait")).length : 0;
  }

  /**
   * What BullMQ keeps of a queue that nobody was told anything on for so long, where nothing waits. It is forgotten
   * first: a notice that comes meanwhile is either seen here, or notes the queue again.
   */
  private async forget(queue: Queue, usedAt: number): Promise<void> {
    await this.state.replyQueues.forget(queue.name);
    const { completed, failed, ...inUse } = await queue.getJobCounts();
    if (Object.values(inUse).some((count) => count > 0)) {
      return this.state.replyQueues.used(queue.name, usedAt);
    }
    if (completed) await queue.clean(0, 0, "completed");
    if (failed) await queue.clean(0, 0, "failed");
    await this.state.redis.del(...["id", "meta", "events", "marker"].map((what) => queue.toKey(what)));
  }
}
