import { setTimeout as sleep } from "node:timers/promises";
import type { PauseScope } from "@drover/queue";
import { type ConnectionOptions, Queue } from "bullmq";
import type { Arena, Slot } from "./arena.js";
import type { RunHistory } from "./history.js";
import type { PlannedEvent } from "./plan.js";
import type { Takeovers } from "./takeovers.js";

type Planned<K extends PlannedEvent["what"]> = PlannedEvent & { what: K };

/** Does to the fleet what the plan says. */
export class Disturber {
  private redisIsBusy = false;
  /** What another service, which knows only the queue, writes to. */
  private readonly queue: Queue;
  private readonly pending = new Set<Promise<void>>();

  constructor(
    private readonly arena: Arena,
    private readonly histories: ReadonlyMap<string, RunHistory>,
    private readonly takeovers: Takeovers,
    private readonly batchId: string,
    /** Agents whose runs an operator may try again. */
    private readonly repeatable: ReadonlySet<string>,
  ) {
    this.queue = new Queue("runs", {
      connection: arena.direct as unknown as ConnectionOptions,
      prefix: arena.keys().bull,
      skipVersionCheck: true,
    });
    this.queue.on("error", () => {});
  }

  /** Resolves at once; `settled` waits for what goes on. */
  begin(event: PlannedEvent): void {
    const going = this.apply(event).catch((error: unknown) =>
      this.arena.tell(`${event.what} failed: ${String(error)}`),
    );
    this.pending.add(going);
    going.finally(() => this.pending.delete(going));
  }

  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }

  async close(): Promise<void> {
    await this.queue.close();
  }

  private note(event: PlannedEvent, what: string): void {
    this.arena.count(event.what);
    this.arena.tell(what);
  }

  private async apply(event: PlannedEvent): Promise<void> {
    switch (event.what) {
      case "kill":
      case "drain":
      case "stop":
        return this.disturbWorker(event);
      case "killRedis":
      case "stopRedis":
      case "fullRedis":
        return this.disturbRedis(event);
      case "cut":
      case "hold":
      case "slow":
        return this.disturbNetwork(event);
      case "duplicate":
        return this.duplicate(event);
      case "malformed":
        this.note(event, `message ${JSON.stringify(event.message)?.slice(0, 100)}`);
        await this.queue.add("run", event.message, { removeOnComplete: true, removeOnFail: true });
        return;
      case "cancel":
        return this.cancel(event);
      case "retry":
        return this.retry(event);
      case "pause":
        return this.pause(event);
    }
  }

  private async disturbWorker(event: Planned<"kill" | "drain" | "stop">): Promise<void> {
    const slot = this.arena.slots[event.slot] as Slot;
    const { worker } = slot;
    // Nobody there, or somebody in the middle of something else.
    if (!worker || worker.hasExited || worker.isExpectedToEnd) return;
    if (event.what === "stop") {
      this.note(event, `worker ${worker.pid} stopped for ${event.forMs} ms`);
      worker.signal("SIGSTOP");
      await sleep(event.forMs);
      worker.signal("SIGCONT");
      return;
    }
    // Before it is ready there is nothing that it could hand over.
    if (event.what === "drain" && !worker.isReady) return;
    worker.isExpectedToEnd = true;
    this.note(event, `worker ${worker.pid} ${event.what === "kill" ? "killed" : "sent away"}`);
    if (event.what === "kill") {
      await worker.kill();
      await this.takeovers.noteKill(worker.pid);
    } else {
      worker.signal("SIGTERM");
      this.arena.tell(`worker ${worker.pid} left with ${await worker.exited}`);
    }
    await sleep(event.downMs);
    slot.clockMs = event.clockMs;
    this.arena.refill(slot);
  }

  private async disturbRedis(event: Planned<"killRedis" | "stopRedis" | "fullRedis">): Promise<void> {
    if (this.redisIsBusy) return;
    this.redisIsBusy = true;
    try {
      if (event.what === "stopRedis") {
        this.note(event, `Redis stopped for ${event.forMs} ms`);
        await this.arena.redis.kill("SIGSTOP");
        await sleep(event.forMs);
        await this.arena.redis.kill("SIGCONT");
        return;
      }
      if (event.what === "fullRedis") {
        this.note(event, `Redis is full for ${event.forMs} ms`);
        await this.arena.direct.config("SET", "maxmemory", "1");
        await sleep(event.forMs);
        await this.arena.direct.config("SET", "maxmemory", "0");
        return;
      }
      this.note(event, `Redis killed for ${event.downMs} ms`);
      await this.arena.redis.kill();
      await sleep(event.downMs);
      await this.arena.redis.restart();
      this.arena.tell("Redis is back");
    } finally {
      this.redisIsBusy = false;
    }
  }

  private async disturbNetwork(event: Planned<"cut" | "hold" | "slow">): Promise<void> {
    const slot = this.arena.slots[event.slot];
    const network = slot?.network ?? this.arena.producerNetwork;
    const whose = slot ? `worker ${slot.worker?.pid}` : "the producer";
    this.note(event, `network of ${whose}: ${event.what} for ${event.forMs} ms`);
    if (event.what === "cut") return network.cut(event.forMs);
    if (event.what === "hold") return network.hold(event.forMs);
    return network.slow(event.delayMs, event.forMs);
  }

  /** Deliveries of a run that nobody ordered: of its newest activation, of an old one, of one that is to come. */
  private async duplicate(event: Planned<"duplicate">): Promise<void> {
    const history = this.histories.get(event.run);
    if (!history?.runId) return;
    const run = { tenant: "default", threadId: history.threadId, runId: history.runId };
    const seq = (await this.arena.state.reader.run(run, false))?.seq ?? 1;
    this.note(event, `${event.run} (seq ${seq}) delivered four times more`);
    const deliveries = [seq, seq, Math.max(1, seq - 1), seq + 1].map((of, i) => ({
      name: "run",
      data: { ...run, seq: of, delivery: 900 + i },
      opts: { removeOnComplete: true, removeOnFail: true },
    }));
    await this.queue.addBulk(deliveries);
  }

  private async cancel(event: Planned<"cancel">): Promise<void> {
    const history = this.histories.get(event.run);
    if (!history?.runId) return;
    this.note(event, `${event.run} cancelled`);
    history.cancelled = true;
    await this.arena.producer.cancelRun(history.runId, "by the harness");
  }

  private async retry(event: Planned<"retry">): Promise<void> {
    const all = [...this.histories.values()];
    const from = all.findIndex(({ plan }) => plan.label === event.run);
    const failed = [...all.slice(from), ...all.slice(0, from)].find(
      ({ seen, plan, retries }) =>
        retries === 0 && this.repeatable.has(plan.agent) && seen !== null && seen.status !== "success",
    );
    if (!failed?.runId) return;
    failed.retries += 1;
    this.note(event, `${failed.plan.label} tried again by an operator`);
    await this.arena.observer.retryRun(failed.runId);
  }

  private async pause(event: Planned<"pause">): Promise<void> {
    const scope: PauseScope =
      event.scope === "all"
        ? "all"
        : event.scope === "agent"
          ? `agent:${event.agent}`
          : `batch:${this.batchId}`;
    this.note(event, `${scope} paused for ${event.forMs} ms`);
    await this.arena.observer.pause(scope);
    await sleep(event.forMs);
    await this.arena.observer.resume(scope);
    this.arena.tell(`${scope} goes on`);
  }
}
