/**
 * Limits of concurrent runs. A run has a share of each of its keys (tenant, agent, a caller's own) while it is worked
 * on; one that finds none left waits in line, off the queue, until a share is handed to it. Lives in the slot of the
 * indexes and learns of a run's end as they do, by its transition: applied twice, late or out of order, it comes to
 * the same. What a crash leaves between two slots is found by a sweeper (`look`).
 */
import type { Pointer, ShareKind, ShareLimit } from "@drover/contracts";
import type { Redis } from "./connect.js";
import { activationOf, memberOf } from "./indexes.js";
import { decodeId, encodeId, type Keys } from "./keys.js";
import type { ActivationRef, RunRef } from "./run-store.js";
import { loadScript, replyWords, runScript } from "./scripts.js";

const scripts = {
  take: loadScript("shares/take", "shares/common"),
  drop: loadScript("shares/drop", "shares/common"),
  look: loadScript("shares/look", "shares/common"),
};

/** Milliseconds for which the sweeper leaves a share alone that it has looked at. */
const LEAVE_ALONE_MS = 5000;

export interface ShareKey {
  kind: ShareKind;
  name: string;
}

export interface Took {
  /** The key that has no share left; null where the run has a share of each of its keys. */
  waitsFor: ShareKey | null;
  /** Other activations that were let in by the way: they go on the queue now. */
  granted: ActivationRef[];
}

/** How a run stands that waits for a share. */
export interface Standing extends ShareKey {
  limit: number;
  held: number;
  /** How many wait before it. */
  ahead: number;
}

interface StoredShare {
  k: [key: string, group: string, limit: number][];
  /** Place in `k`, from 1. */
  w?: number;
}

export class Shares {
  private readonly base: string;

  constructor(
    private readonly redis: Redis,
    keys: Keys,
    private readonly leaveAloneMs = LEAVE_ALONE_MS,
  ) {
    this.base = keys.index("");
  }

  /** @param priority 0 to 10; those that had begun before go ahead of all others */
  async take(pointer: Pointer, priority: number, limits: readonly ShareLimit[]): Promise<Took> {
    const { runId, tenant, seq, delivery } = pointer;
    const order = seq > 1 ? 0 : priority + 1;
    const args = [encodeId(runId), memberOf(pointer), seq, delivery, order];
    const wanted = limits.flatMap((one) => [nameOf(one, tenant), encodeId(one.group), one.limit]);
    const { what, rest } = replyWords(
      await runScript(this.redis, scripts.take, [this.base], [...args, ...wanted]),
    );
    const [key, ...granted] = rest.map(String);
    return {
      waitsFor: what === "waits" ? keyOf(key ?? "") : null,
      granted: granted.map(activationOf),
    };
  }

  /**
   * Takes away what an activation that is over has or waits for. Gives the activations that were let in.
   * @param upTo only what was taken for this delivery of it or an earlier one, by `RunStore.withhold`
   */
  async drop(activation: ActivationRef, upTo: number | "" = ""): Promise<ActivationRef[]> {
    const args = [encodeId(activation.runId), activation.seq, upTo];
    const granted = (await runScript(this.redis, scripts.drop, [this.base], args)) as Buffer[];
    return granted.map((one) => activationOf(String(one)));
  }

  /** Up to `limit` activations that have shares or wait for one, those that nobody looked at for long first. */
  async look(
    limit: number,
  ): Promise<{ found: { activation: ActivationRef; waits: boolean }[]; granted: ActivationRef[] }> {
    const args = [this.leaveAloneMs, limit];
    const [n, ...rest] = (await runScript(this.redis, scripts.look, [this.base], args)) as [
      number,
      ...Buffer[],
    ];
    const found = Array.from({ length: n }, (_, i) => ({
      activation: activationOf(String(rest[2 * i])),
      waits: String(rest[2 * i + 1]) === "1",
    }));
    return { found, granted: rest.slice(2 * n).map((one) => activationOf(String(one))) };
  }

  /** Null where the run waits for no share. */
  async standing(run: RunRef): Promise<Standing | null> {
    const id = encodeId(run.runId);
    const json = await this.redis.hget(`${this.base}shares`, id);
    const { k, w } = json ? (JSON.parse(json) as StoredShare) : { k: [], w: undefined };
    const name = w === undefined ? undefined : k[w - 1]?.[0];
    if (name === undefined) return null;
    const key = `${this.base}share:${name}`;
    const [limit, held, ahead] = await Promise.all([
      this.redis.hget(key, "limit"),
      this.redis.scard(`${key}:held`),
      this.redis.zrank(`${key}:waiting`, id),
    ]);
    return { ...keyOf(name), limit: Number(limit ?? 0), held, ahead: ahead ?? 0 };
  }
}

/** A key's name in Redis: kinds and, for callers' own keys, tenants do not meet. */
function nameOf({ kind, name }: ShareKey, tenant: string): string {
  return kind === "key" ? `key:${encodeId(tenant)}/${encodeId(name)}` : `${kind}:${encodeId(name)}`;
}

function keyOf(stored: string): ShareKey {
  const at = stored.indexOf(":");
  const name = stored.slice(at + 1);
  return {
    kind: stored.slice(0, at) as ShareKind,
    name: decodeId(name.slice(name.indexOf("/") + 1)),
  };
}
