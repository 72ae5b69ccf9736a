import { randomUUID } from "node:crypto";
import type { ErrorInfo } from "@drover/contracts";
import type { Redis } from "./connect.js";
import type { Codec } from "./encryption/codec.js";
import { openJson, sealJson } from "./encryption/sealed.js";
import { encodeId, type Keys } from "./keys.js";

/** Letters that are kept for each tenant; the oldest goes first. */
const MOST = 1000;
/** Characters of a body that are kept. */
const LONGEST_BODY = 64 * 1024;

/** A message that nobody could be told about, or that could not be read. */
export interface DeadLetter {
  id: string;
  tenant: string;
  /** Milliseconds since 1970. */
  at: number;
  reason: ErrorInfo;
  /** The message as JSON, after redaction; cut at 64 KiB. */
  body: string;
  isCut: boolean;
}

/** Messages of the inbox that were refused, newest first. */
export class DeadLetters {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly codec: Codec | undefined,
  ) {}

  /** Keeps one, and gives it. */
  async add(tenant: string, reason: ErrorInfo, body: string, at: number): Promise<DeadLetter> {
    const letter: DeadLetter = {
      id: `dead_${randomUUID().replaceAll("-", "").slice(0, 20)}`,
      tenant,
      at,
      reason,
      body: body.slice(0, LONGEST_BODY),
      isCut: body.length > LONGEST_BODY,
    };
    const { order, bodies } = this.names(tenant);
    await this.redis
      .multi()
      .zadd(order, at, letter.id)
      .hset(bodies, letter.id, sealJson(letter, this.codec))
      .exec();
    const over = (await this.redis.zcard(order)) - MOST;
    if (over > 0) {
      const oldest = await this.redis.zrange(order, 0, String(over - 1));
      await this.redis
        .multi()
        .zrem(order, ...oldest)
        .hdel(bodies, ...oldest)
        .exec();
    }
    return letter;
  }

  async list(tenant: string, limit: number): Promise<DeadLetter[]> {
    const { order, bodies } = this.names(tenant);
    const ids = await this.redis.zrange(order, 0, String(limit - 1), "REV");
    if (ids.length === 0) return [];
    const found = await this.redis.hmget(bodies, ...ids);
    return found.flatMap((json) => (json ? [openJson(json, this.codec) as DeadLetter] : []));
  }

  /** False where there is none of this id. */
  async remove(tenant: string, id: string): Promise<boolean> {
    const { order, bodies } = this.names(tenant);
    const [, removed] = await Promise.all([this.redis.hdel(bodies, id), this.redis.zrem(order, id)]);
    return removed === 1;
  }

  private names(tenant: string): { order: string; bodies: string } {
    const order = this.keys.index(`dead-letters:${encodeId(tenant)}`);
    return { order, bodies: `${order}:bodies` };
  }
}
