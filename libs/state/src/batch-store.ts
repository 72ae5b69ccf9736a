import {
  type Batch,
  DroverError,
  type NoticeDefaults,
  noUsage,
  RUN_STATUSES,
  type RunStatus,
  USAGE_FIELDS,
} from "@drover/contracts";
import type { Redis } from "./connect.js";
import type { Codec } from "./encryption/codec.js";
import { openJson, sealJson } from "./encryption/sealed.js";
import { encodeId, type Keys } from "./keys.js";
import type { Retention } from "./retention.js";
import { loadScript, runScript } from "./scripts.js";

const scripts = { open: loadScript("open"), seal: loadScript("seal") };

/** Batches: their counters are kept by the indexes as runs move, so that reading one is one command. */
export class BatchStore {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly retention: Retention,
    private readonly codec: Codec | undefined,
  ) {}

  /** False where the batch exists already. */
  async open(batch: Pick<Batch, "batchId" | "tenant" | "agent" | "metadata" | "notify">): Promise<boolean> {
    const all = this.keys.index(`batches:${encodeId(batch.tenant)}`);
    const keys = [this.key(batch.batchId), all, this.keys.index("batches-open")];
    const args = [
      batch.batchId,
      batch.tenant,
      batch.agent,
      sealJson(batch.metadata, this.codec),
      this.retention.batches,
      batch.notify ? JSON.stringify(batch.notify) : "",
    ];
    return (await runScript(this.redis, scripts.open, keys, args)) === 1;
  }

  /** Whom the batch names; null where it names nobody, or is not kept. */
  async notifyOf(batchId: string): Promise<NoticeDefaults | null> {
    const json = await this.redis.hget(this.key(batchId), "notify");
    return json ? (JSON.parse(json) as NoticeDefaults) : null;
  }

  async seal(batchId: string): Promise<void> {
    await runScript(this.redis, scripts.seal, [this.key(batchId), this.keys.index("batches-open")], []);
  }

  /** Throws UNKNOWN_BATCH, also for a batch of another tenant. */
  async get(batchId: string, tenant: string): Promise<Batch> {
    const f = await this.redis.hgetall(this.key(batchId));
    if (!f.createdAt || f.tenant !== tenant) {
      throw new DroverError(
        "UNKNOWN_BATCH",
        `There is no batch '${batchId}'. \`drover batches list\` shows those that are kept.`,
      );
    }
    const counts = Object.fromEntries(RUN_STATUSES.map((s) => [s, Number(f[`n:${s}`] ?? 0)])) as Record<
      RunStatus,
      number
    >;
    const usage = noUsage();
    USAGE_FIELDS.forEach((field, i) => {
      usage[field] = Number(f[`u:${i + 1}`] ?? 0);
    });
    return {
      batchId,
      tenant,
      agent: f.agent ?? "",
      metadata: openJson(f.metadata ?? "{}", this.codec) as Record<string, unknown>,
      ...(f.notify ? { notify: JSON.parse(f.notify) as NoticeDefaults } : {}),
      sealed: f.sealed === "1",
      paused: f.paused === "1",
      cancelled: f.cancelled === "1",
      total: Number(f.total ?? 0),
      counts,
      usage,
      createdAt: Number(f.createdAt),
      startedAt: f.startedAt ? Number(f.startedAt) : null,
      finishedAt: f.finishedAt ? Number(f.finishedAt) : null,
    };
  }

  async flag(batchId: string, flag: "paused" | "cancelled", on: boolean): Promise<void> {
    if (on) await this.redis.hset(this.key(batchId), flag, "1");
    else await this.redis.hdel(this.key(batchId), flag);
  }

  /** Batch ids, newest first. */
  async list(tenant: string, limit: number): Promise<string[]> {
    const key = this.keys.index(`batches:${encodeId(tenant)}`);
    for (;;) {
      const ids = await this.redis.zrange(key, 0, String(limit - 1), "REV");
      const kept = await Promise.all(ids.map((id) => this.redis.exists(this.key(id))));
      const over = ids.filter((_, i) => kept[i] === 0);
      if (over.length === 0) return ids;
      await this.redis.zrem(key, ...over);
    }
  }

  /** The batch's run ids in the order in which they were accepted, a page at a time. */
  async runs(batchId: string, offset: number, limit: number): Promise<string[]> {
    return this.redis.zrange(`${this.key(batchId)}:runs`, offset, String(offset + limit - 1));
  }

  /** Run ids in the order in which they ended or were interrupted; a run may appear again. */
  async ended(batchId: string, offset: number, limit: number): Promise<string[]> {
    return this.redis.lrange(`${this.key(batchId)}:ended`, offset, offset + limit - 1);
  }

  private key(batchId: string): string {
    return this.keys.index(`batch:${encodeId(batchId)}`);
  }
}
