import type { Redis } from "./connect.js";
import type { Keys } from "./keys.js";

/** Queues that are looked at in one go, about. */
const PAGE = 50;

/** The queues on which senders are told of their runs, by when they last were. */
export class ReplyQueues {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** @param at milliseconds since 1970, by Redis's clock */
  async used(name: string, at: number): Promise<void> {
    await this.redis.zadd(this.key, "GT", at, name);
  }

  /** Some of them. A cursor of "0" begins, and says after the last page that it was the last. */
  async page(cursor: string): Promise<{ next: string; queues: { name: string; usedAt: number }[] }> {
    const [next, flat] = await this.redis.zscan(this.key, cursor, "COUNT", PAGE);
    const queues = [];
    for (let i = 0; i < flat.length; i += 2) {
      queues.push({ name: String(flat[i]), usedAt: Number(flat[i + 1]) });
    }
    return { next, queues };
  }

  async forget(name: string): Promise<void> {
    await this.redis.zrem(this.key, name);
  }

  private get key(): string {
    return this.keys.index("reply-queues");
  }
}
