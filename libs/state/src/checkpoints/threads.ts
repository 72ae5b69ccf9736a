import type { CheckpointContext } from "./context.js";
import { ThreadQueue } from "./thread-queue.js";

/** How many idle threads a saver remembers. */
const REMEMBERED = 16;

/** The queues of the threads that a saver works on. An idle one can be dropped at any time. */
export class Threads {
  readonly #queues = new Map<string, ThreadQueue>();

  constructor(readonly context: CheckpointContext) {}

  queue(threadId: string): ThreadQueue {
    const queue = this.#queues.get(threadId) ?? new ThreadQueue(this.context, threadId);
    this.#queues.delete(threadId);
    this.#queues.set(threadId, queue);
    if (this.#queues.size > REMEMBERED) this.#dropIdle();
    return queue;
  }

  #dropIdle(): void {
    for (const [id, queue] of this.#queues) {
      if (this.#queues.size <= REMEMBERED) return;
      if (queue.isIdle) this.#queues.delete(id);
    }
  }
}
