import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client, type ClientOptions } from "@drover/queue";
import { resumeValue, validateAnswer } from "@drover/runtime";
import { connect, createKeys, openState, type Redis, type State, Subscriptions } from "@drover/state";
import { WorkerProcess } from "./fleet.js";
import type { Happening } from "./history.js";
import { type LedgerLine, readLedger } from "./ledger.js";
import { Network } from "./network.js";
import type { ChaosEvent } from "./plan.js";

export interface ArenaOptions {
  root: string;
  workers: number;
  leaseMs: number;
  concurrency: number;
  clocks: readonly number[];
  env: Record<string, string>;
}

export interface Slot {
  network: Network;
  worker: WorkerProcess | null;
  clockMs: number;
}

export const PREFIX = "chaos";

/** A Redis, a fleet and a producer, each behind a network of its own, and an observer that nothing disturbs. */
export class Arena {
  readonly happenings: Happening[] = [];
  readonly counts = new Map<ChaosEvent | "answers" | "restarts" | "unexpectedExits", number>();
  readonly slots: Slot[] = [];
  private isOver = false;

  private constructor(
    readonly redis: RedisServer,
    readonly ledgerFile: string,
    private readonly folder: string,
    private readonly options: ArenaOptions,
    /** The producer's network. */
    readonly producerNetwork: Network,
    readonly producer: Client,
    /** Two more who answer questions, over the producer's network. */
    readonly reviewer: Client,
    readonly observer: Client,
    /** The observer's own connection. */
    readonly direct: Redis,
    private readonly listener: Redis,
    readonly state: State,
    readonly subscriptions: Subscriptions,
  ) {}

  static async open(options: ArenaOptions): Promise<Arena> {
    const folder = mkdtempSync(join(tmpdir(), "drover-chaos-"));
    const ledgerFile = join(folder, "ledger.jsonl");
    writeFileSync(ledgerFile, "");
    const redis = await startRedis({ appendfsync: "always" });
    const network = await Network.to(redis.port);
    const over: Omit<ClientOptions, "redisUrl"> = {
      prefix: PREFIX,
      readAnswer: (approval, answer) => resumeValue(approval, validateAnswer(approval, answer)),
    };
    const disturbed = { ...over, redisUrl: network.through(redis.url), commandTimeoutMs: 3000 };
    const direct = connect({ url: redis.url, role: "worker" });
    const listener = connect({ url: redis.url, role: "subscriber" });
    const arena = new Arena(
      redis,
      ledgerFile,
      folder,
      options,
      network,
      new Client(disturbed),
      new Client(disturbed),
      new Client({ ...over, redisUrl: redis.url, commandTimeoutMs: 20_000 }),
      direct,
      listener,
      openState({ redis: direct, prefix: PREFIX }),
      new Subscriptions(listener),
    );
    for (const clockMs of options.clocks) {
      arena.slots.push({ network: await Network.to(redis.port), worker: null, clockMs });
    }
    for (const slot of arena.slots) arena.fill(slot);
    await Promise.all(arena.slots.map((slot) => slot.worker?.ready));
    return arena;
  }

  /** Keeps a worker in the slot from now on, whatever ends it. */
  fill(slot: Slot): void {
    if (this.isOver) return;
    const { root, leaseMs, concurrency, env } = this.options;
    const worker = new WorkerProcess({
      redisUrl: slot.network.through(this.redis.url),
      prefix: PREFIX,
      root,
      leaseMs,
      concurrency,
      ledger: this.ledgerFile,
      clockMs: slot.clockMs,
      env,
    });
    slot.worker = worker;
    worker.exited.then((code) => {
      if (slot.worker !== worker || worker.isExpectedToEnd || this.isOver) return;
      this.count("unexpectedExits");
      this.tell(
        `worker ${worker.pid} ended by itself with ${code}: ${worker.logs
          .slice(-30)
          .filter((line) => !line.startsWith("{"))
          .join(" ")}`,
      );
      this.refill(slot);
    });
  }

  refill(slot: Slot): void {
    this.count("restarts");
    this.fill(slot);
    this.tell(`worker ${slot.worker?.pid} started, its clock is off by ${slot.clockMs} ms`);
  }

  tell(what: string): void {
    this.happenings.push({ at: Date.now(), what });
  }

  count(what: ChaosEvent | "answers" | "restarts" | "unexpectedExits"): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  ledger(): LedgerLine[] {
    return readLedger(this.ledgerFile);
  }

  keys() {
    return createKeys(PREFIX);
  }

  /** Sends every worker away in order and gives their exit codes. */
  async dismiss(): Promise<(number | null)[]> {
    this.isOver = true;
    const workers = this.slots.flatMap(({ worker }) => worker ?? []);
    for (const worker of workers) {
      worker.isExpectedToEnd = true;
      worker.signal("SIGCONT");
      worker.signal("SIGTERM");
    }
    return Promise.all(workers.map((worker) => worker.exited));
  }

  async close(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.slots.map(({ worker }) => worker?.kill()));
    await Promise.allSettled([this.producer.close(), this.reviewer.close(), this.observer.close()]);
    this.direct.disconnect();
    this.listener.disconnect();
    await Promise.all(
      [this.producerNetwork, ...this.slots.map(({ network }) => network)].map((p) => p.close()),
    );
    await this.redis.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
