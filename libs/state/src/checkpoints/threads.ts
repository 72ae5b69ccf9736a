import type { CheckpointContext } from "./context.js";
import { ThreadQueue } from "./thread-queue.js";

/** How many idle threads a saver remembers. */
const REMEMBERED = 16;

/** The queues of the threads that a saver works on. An idle one can be dropped at any time. */
export class Threads {
  readonly #queues = new Map<string, ThreadQueue>();

  /** @param newThread one that has no checkpoints yet, and no other writer */
  constructor(
    readonly context: CheckpointContext,
    private newThread?: string,
  ) {}

  queue(threadId: string): ThreadQueue {
    const queue = this.#queues.get(threadId) ?? this.#open(threadId);
    this.#queues.delete(threadId);
    this.#queues.set(threadId, queue);
    if (this.#queues.size > REMEMBERED) this.#dropIdle();
    return queue;
  }

  #open(threadId: string): ThreadQueue {
    const isNew = threadId === this.newThread;
    // Once: a queue that was dropped and is opened again is of a thread with checkpoints.
    if (isNew) this.newThread = undefined;
    return new ThreadQueue(this.context, threadId, isNew);
  }

  #dropIdle(): void {
    for (const [id, queue] of this.#queues) {
      if (this.#queues.size <= REMEMBERED) return;
      if (queue.isIdle) this.#queues.delete(id);
    }
  }
}
