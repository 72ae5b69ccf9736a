import type { Redis } from "./connect.js";
import { threadMember } from "./indexes.js";
import { decodeId, type Keys } from "./keys.js";
import { loadScript, newToken, runScript } from "./scripts.js";
import type { ThreadRef } from "./transitions.js";

const script = loadScript("mark");

/** Ends the name of a mark that was seen to once. */
const AGAIN = "again";

export interface FoundMark {
  thread: ThreadRef;
  /** Its name among all marks. */
  member: string;
  /** Whether it was seen to before. */
  isSecondLook: boolean;
}

/**
 * Threads that somebody writes to without a claim: a producer that enqueues, a human who answers or cancels. Whoever
 * does so marks the thread before and unmarks it when everything is published; what stays marked is a sweeper's.
 */
export class Marks {
  private readonly key: string;

  constructor(
    private readonly redis: Redis,
    keys: Keys,
  ) {
    this.key = keys.index("marks");
  }

  /** Gives the mark: it is the caller's own, whoever else marks the same threads. */
  async mark(threads: readonly ThreadRef[]): Promise<string> {
    const mark = newToken();
    await runScript(this.redis, script, [this.key], membersOf(threads, mark));
    return mark;
  }

  async unmark(mark: string, threads: readonly ThreadRef[]): Promise<void> {
    await this.redis.zrem(this.key, ...membersOf(threads, mark));
  }

  /** Marks that were made before `at`, in milliseconds by Redis's clock, oldest first. */
  async before(at: number, limit: number): Promise<FoundMark[]> {
    const members = await this.redis.zrange(this.key, "-inf", String(at), "BYSCORE", "LIMIT", 0, limit);
    return members.map((member) => {
      const [tenant = "", threadId = "", , again] = member.split("/");
      const thread = { tenant: decodeId(tenant), threadId: decodeId(threadId) };
      return { thread, member, isSecondLook: again === AGAIN };
    });
  }

  /** Forgets a mark that was seen to. */
  async drop({ member }: FoundMark): Promise<void> {
    await this.redis.zrem(this.key, member);
  }

  /** Has a mark looked at once more, as if it was made at `at`. */
  async lookAgain(found: FoundMark, at: number): Promise<void> {
    await this.redis.zadd(this.key, at, `${found.member}/${AGAIN}`);
    await this.drop(found);
  }
}

const membersOf = (threads: readonly ThreadRef[], mark: string): string[] =>
  threads.map((thread) => `${threadMember(thread)}/${mark}`);
