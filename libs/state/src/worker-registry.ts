import type { MessageType, NoticeDefaults } from "@drover/contracts";
import type { Redis } from "./connect.js";
import { activationOf, claimOf, refOf } from "./indexes.js";
import { encodeId, type Keys } from "./keys.js";
import type { ActivationRef, RunRef } from "./run-store.js";
import { loadScript, replyWords, runScript } from "./scripts.js";

const scripts = {
  heartbeat: loadScript("heartbeat"),
  gone: loadScript("gone"),
  bury: loadScript("bury"),
  unlist: loadScript("unlist"),
};

/** How long a worker is told with its heartbeats to stop a run. */
const CANCEL_SECONDS = 3600;

/** What a worker says of itself. */
export interface WorkerDescription {
  host: string;
  pid: number;
  version: string;
  concurrency: number;
  active: number;
  startedAt: number;
  agents: string[];
  /** name → version of the same */
  versions?: Record<string, string>;
}

/** What those who don't have an agent must know of its policy. */
export interface AgentTerms {
  /** Who is told of its runs, where neither the run nor its batch says. */
  notify?: NoticeDefaults | undefined;
  /** Kinds of message about it that are refused without a signature. */
  signedMessages: readonly MessageType[];
}

/** The agents that a worker has. */
export interface AnnouncedAgents {
  /** name → version */
  agents: Record<string, string>;
  /** name → terms of the same */
  terms?: Record<string, AgentTerms>;
}

export interface Heartbeat {
  /** False where others declared this worker gone meanwhile: every lease that it had is lost. */
  alive: boolean;
  /** Runs of this worker that somebody asked to stop. */
  cancels: RunRef[];
  /** Scopes that are paused: `all`, `batch:<id>`, `agent:<name>`, `tenant:<name>`. */
  pauses: Set<string>;
}

/** Who is there to work. A worker that stops saying so loses its runs to others. */
export class WorkerRegistry {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  async heartbeat(
    worker: string,
    holdsMs: number,
    description: WorkerDescription,
    register: AnnouncedAgents | null,
  ): Promise<Heartbeat> {
    const i = this.keys.index;
    const keys = [i("workers"), i(`worker:${worker}`), i(`cancels:${worker}`), i("pauses"), i("agents")];
    const agents = register ? Object.entries(register.agents).flat() : [];
    const args = [worker, holdsMs, JSON.stringify(description), register ? "1" : "0", ...agents];
    if (register) await this.announceTerms(register);
    const { what, rest } = replyWords(await runScript(this.redis, scripts.heartbeat, keys, args));
    const [cancels, ...others] = rest;
    const n = Number(cancels);
    return {
      alive: what === "alive",
      cancels: others.slice(0, n).map((member) => refOf(String(member))),
      pauses: new Set(others.slice(n).map(String)),
    };
  }

  /** The terms of the agents that workers announced. */
  async termsOfAgents(): Promise<Record<string, AgentTerms>> {
    const found = await this.redis.hgetall(this.keys.index("agents-terms"));
    return Object.fromEntries(
      Object.entries(found).map(([agent, json]) => [agent, JSON.parse(json) as AgentTerms]),
    );
  }

  /** The newest worker's word holds. */
  private async announceTerms({ terms = {} }: AnnouncedAgents): Promise<void> {
    const told = Object.entries(terms).flatMap(([agent, one]) => [agent, JSON.stringify(one)]);
    if (told.length > 0) await this.redis.hset(this.keys.index("agents-terms"), ...told);
  }

  /** Workers that did not say in time that they live, with up to `limit` of the activations that each had claimed. */
  async gone(limit: number): Promise<{ worker: string; claims: ActivationRef[] }[]> {
    const keys = [this.keys.index("workers"), this.keys.index("claims:")];
    const reply = (await runScript(this.redis, scripts.gone, keys, [limit])) as (Buffer | number)[];
    const found: { worker: string; claims: ActivationRef[] }[] = [];
    for (let i = 0; i < reply.length; ) {
      const n = Number(reply[i + 1]);
      const claims = reply.slice(i + 2, i + 2 + n).map((claim) => activationOf(String(claim)));
      found.push({ worker: String(reply[i]), claims });
      i += 2 + n;
    }
    return found;
  }

  /**
   * A worker claims an activation: noted before the claim itself, so that a crash in between leaves a trace. A worker
   * that was declared gone meanwhile is listed again, as one that is overdue, so that what it claims now is found.
   * Notes tell activations apart: forgetting one never forgets that the same worker has the run's next one.
   */
  async noteClaim(worker: string, activation: ActivationRef): Promise<void> {
    await Promise.all([
      this.redis.sadd(this.keys.index(`claims:${worker}`), claimOf(activation)),
      this.redis.zadd(this.keys.index("workers"), "NX", 0, worker),
    ]);
  }

  async claims(worker: string): Promise<ActivationRef[]> {
    return (await this.redis.smembers(this.keys.index(`claims:${worker}`))).map(activationOf);
  }

  async dropClaim(worker: string, activation: ActivationRef): Promise<void> {
    await this.redis.srem(this.keys.index(`claims:${worker}`), claimOf(activation));
  }

  /**
   * Forgets a worker that has no claims left. One that has, because it claimed a run in this very moment, stays
   * listed until its time is over and the run was taken over.
   * @param onlyOverdue leaves a worker alone that has said meanwhile that it lives
   */
  async remove(worker: string, onlyOverdue = false): Promise<void> {
    const i = this.keys.index;
    const keys = [i("workers"), i(`worker:${worker}`), i(`cancels:${worker}`), i(`claims:${worker}`)];
    await runScript(this.redis, scripts.bury, keys, [worker, onlyOverdue ? 1 : 0]);
  }

  /** Asks a worker to stop a run: at once by a message, and at its next heartbeat if the message is missed. */
  async askToStop(worker: string, member: string): Promise<void> {
    const cancels = this.keys.index(`cancels:${worker}`);
    // The worker may be gone by now: whoever takes the run over reads in its record that it is to end.
    await Promise.all([this.redis.sadd(cancels, member), this.redis.expire(cancels, CANCEL_SECONDS)]);
    await this.redis.publish(this.cancelChannel(worker), member);
  }

  /** A worker has stopped a run: it need not be told again. */
  async hasStopped(worker: string, member: string): Promise<void> {
    await this.redis.srem(this.keys.index(`cancels:${worker}`), member);
  }

  /** One for a process, whatever life of it the run was claimed in. */
  cancelChannel(worker: string): string {
    return this.keys.index(`cancel:${worker.replace(/\.\d+$/, "")}`);
  }

  /** Workers that live: those that said so within their lease, by Redis's clock. */
  async list(): Promise<{ worker: string; description: WorkerDescription }[]> {
    const [seconds] = await this.redis.time();
    const ids = await this.redis.zrange(
      this.keys.index("workers"),
      Number(seconds) * 1000,
      "+inf",
      "BYSCORE",
    );
    const found = await Promise.all(
      ids.map(async (worker) => {
        const json = await this.redis.hget(this.keys.index(`worker:${worker}`), "description");
        return json ? [{ worker, description: JSON.parse(json) as WorkerDescription }] : [];
      }),
    );
    return found.flat();
  }

  /** Agents that any worker ever announced, name → version. Empty before the first worker. */
  async agents(): Promise<Record<string, string>> {
    return this.redis.hgetall(this.keys.index("agents"));
  }

  /** Pauses a scope, or lets it go on. */
  async pause(scope: string, on: boolean): Promise<void> {
    const key = this.keys.index("pauses");
    if (on) await this.redis.hset(key, scope, Date.now());
    else await this.redis.hdel(key, scope);
  }

  async isPaused(scope: string): Promise<boolean> {
    return (await this.redis.hexists(this.keys.index("pauses"), scope)) === 1;
  }

  async pauses(): Promise<string[]> {
    return this.redis.hkeys(this.keys.index("pauses"));
  }

  /** Keeps a pointer of a paused scope aside. */
  async park(scope: string, pointer: string): Promise<void> {
    await this.redis
      .multi()
      .sadd(this.keys.index("parked-scopes"), scope)
      .rpush(this.keys.index(`parked:${encodeId(scope)}`), pointer)
      .exec();
  }

  /** Scopes of which something was put aside. */
  async parkedScopes(): Promise<string[]> {
    return this.redis.smembers(this.keys.index("parked-scopes"));
  }

  /** Forgets a scope of which nothing is put aside any more. */
  async forgetParked(scope: string): Promise<void> {
    const keys = [this.keys.index("parked-scopes"), this.keys.index(`parked:${encodeId(scope)}`)];
    await runScript(this.redis, scripts.unlist, keys, [scope]);
  }

  /** Up to `limit` pointers that were put aside for a scope, the first ones first. */
  async parked(scope: string, limit: number): Promise<string[]> {
    return this.redis.lrange(this.keys.index(`parked:${encodeId(scope)}`), 0, String(limit - 1));
  }

  /** Forgets a pointer that is on its way again. */
  async unpark(scope: string, pointer: string): Promise<void> {
    await this.redis.lrem(this.keys.index(`parked:${encodeId(scope)}`), "0", pointer);
  }
}
