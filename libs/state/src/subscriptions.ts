import type { Redis } from "./connect.js";

/** Milliseconds after which a waiting reader looks by itself, in case a message was missed. */
const LOOK_AGAIN_MS = 5000;

export interface Wake {
  /** Resolves true at the next message or after a while, false when the signal fired or this was closed. */
  next(signal?: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Any number of readers that wait for messages, on one connection. */
export class Subscriptions {
  private readonly readers = new Map<string, Set<(message: string) => void>>();
  private readonly ready = new Map<string, Promise<unknown>>();

  constructor(private readonly redis: Redis) {
    redis.on("message", (channel: string, message: string) => {
      for (const reader of this.readers.get(channel) ?? []) reader(message);
    });
  }

  /** Calls `reader` for each message until the function that it gives is called. */
  async listen(channel: string, reader: (message: string) => void): Promise<() => void> {
    const readers = this.readers.get(channel) ?? new Set();
    readers.add(reader);
    this.readers.set(channel, readers);
    if (!this.ready.has(channel)) this.ready.set(channel, this.redis.subscribe(channel));
    try {
      await this.ready.get(channel);
    } catch (error) {
      readers.delete(reader);
      this.ready.delete(channel);
      throw error;
    }
    return () => {
      readers.delete(reader);
      if (readers.size > 0 || this.readers.get(channel) !== readers) return;
      this.readers.delete(channel);
      this.ready.delete(channel);
      this.redis.unsubscribe(channel).catch(() => {});
    };
  }

  async open(channel: string): Promise<Wake> {
    let missed = 0;
    let closed = false;
    let wake: () => void = () => {};
    const stop = await this.listen(channel, () => {
      missed += 1;
      wake();
    });
    return {
      async next(signal) {
        if (missed === 0 && !closed && !signal?.aborted) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, LOOK_AGAIN_MS);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
            signal?.addEventListener("abort", wake, { once: true });
          });
          signal?.removeEventListener("abort", wake);
        }
        missed = 0;
        return !closed && !signal?.aborted;
      },
      close() {
        closed = true;
        stop();
        wake();
      },
    };
  }
}
