/**
 * The truth about runs. Each method is one script on the slot of the run's thread; what other slots must learn
 * of it (indexes, batch, queue) is in the transitions that it returns, and in the thread's outbox until they
 * have learnt it.
 */
import {
  type AcceptedRequest,
  DroverError,
  type ErrorInfo,
  type Lease,
  type Pointer,
  sourcesOf,
  type Transition,
  USAGE_FIELDS,
  type Usage,
} from "@drover/contracts";
import { type Claimed, parseClaim } from "./claimed.js";
import type { Redis } from "./connect.js";
import type { Codec } from "./encryption/codec.js";
import { openJson, sealJson } from "./encryption/sealed.js";
import type { Keys } from "./keys.js";
import { answeredBefore, idempotencyConflict, leaseLost, notAnswerable, unknownRun } from "./refusals.js";
import { headOf } from "./request-head.js";
import { type Retention, retentionArg } from "./retention.js";
import { loadScript, newToken, replyWords, runScript, type Script, type ScriptArg } from "./scripts.js";
import { errorArg, type Settlement, settlementArgs } from "./settlement.js";
import { type Closing, isSameMessage, type StoredAnswer } from "./stored-answer.js";
import { outboxField, parseTransition, parseTransitions, type ThreadRef } from "./transitions.js";

const scripts = {
  admit: loadScript("admit"),
  alone: loadScript("alone"),
  claim: loadScript("claim"),
  settle: loadScript("settle"),
  resume: loadScript("resume"),
  cancel: loadScript("cancel"),
  takeover: loadScript("takeover"),
  redeliver: loadScript("redeliver"),
  withhold: loadScript("withhold"),
  reopen: loadScript("reopen"),
  republish: loadScript("republish"),
};

export interface RunRef extends ThreadRef {
  runId: string;
}

/** One activation of a run: what a worker claims. */
export interface ActivationRef extends RunRef {
  seq: number;
}

export interface Admitted {
  /** `exists`: the same request was accepted before, and this is how its run stands now. */
  what: "admitted" | "exists";
  transition: Transition;
  /** The run that the new one waits behind, if its thread is busy. */
  behind: string | null;
}

export class RunStore {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly retention: Retention,
    private readonly maxCrashes = 3,
    private readonly codec: Codec | undefined = undefined,
  ) {}

  /** @param payload input and context, as `encodePayload` gives them */
  async admit(
    run: RunRef,
    request: AcceptedRequest,
    payload: Buffer | string,
    hash: string,
  ): Promise<Admitted> {
    const { input: _, context: __, ...fields } = request;
    const { what, rest } = await this.run(scripts.admit, run, [
      payload,
      sealJson(fields, this.codec),
      headOf(request, hash),
    ]);
    switch (what) {
      case "admitted":
        return { what, transition: parseTransition(run, rest[0]), behind: rest[1]?.toString() || null };
      case "exists":
        return existing(parseTransition(run, rest[0]));
      case "busy":
        throw new DroverError(
          "THREAD_BUSY",
          `Thread '${run.threadId}' is busy with run ${rest[0]}; wait for it or use the strategy enqueue.`,
        );
      default:
        throw idempotencyConflict();
    }
  }

  /**
   * @param agents the agents that the worker has, name → version
   * @param limited the agents whose runs need a share, `*` for all
   * @param takenFor the delivery for which the worker took the run's shares
   */
  async claim(
    run: RunRef,
    seq: number,
    worker: string,
    agents: Record<string, string>,
    limited: readonly string[] = [],
    takenFor: number | "" = "",
  ): Promise<Claimed> {
    const { what, rest } = await this.run(scripts.claim, run, [
      seq,
      worker,
      sourcesOf("running").join(","),
      JSON.stringify(agents),
      this.retention.eventsLength,
      newToken(),
      takenFor,
      limited.join(","),
      this.maxCrashes,
    ]);
    return parseClaim(run, seq, worker, what, rest, this.codec);
  }

  /** Says that the worker works on nothing but this run, from here to the activation's end. Throws LEASE_LOST. */
  async noteAlone(lease: Lease): Promise<void> {
    const { what } = await this.run(scripts.alone, lease, [lease.seq, lease.epoch, lease.worker]);
    if (what === "lost") throw leaseLost(lease);
  }

  /**
   * Throws LEASE_LOST where another worker has the thread. Null where this activation was settled before and all
   * have learnt of it.
   */
  async settle(lease: Lease, usage: Usage, settlement: Settlement): Promise<Transition | null> {
    const { what, rest } = await this.run(scripts.settle, lease, [
      lease.seq,
      lease.epoch,
      lease.worker,
      retentionArg(this.retention),
      USAGE_FIELDS.map((field) => usage[field]).join(","),
      settlement.what,
      ...settlementArgs(settlement, this.codec),
    ]);
    if (what === "lost") throw leaseLost(lease);
    return rest.length > 0 ? parseTransition(lease, rest[0]) : null;
  }

  /**
   * Stores an answer that was validated before, or the end of the approval's time. Null where the same message
   * answered it before. Throws APPROVAL_ANSWERED, APPROVAL_EXPIRED, ILLEGAL_TRANSITION, UNKNOWN_APPROVAL.
   */
  async resume(
    run: RunRef,
    approvalId: string,
    answer: StoredAnswer,
    how: Closing = {},
  ): Promise<Transition | null> {
    const { what, rest } = await this.run(scripts.resume, run, [
      approvalId,
      sealJson(answer, this.codec),
      how.isExpiry ? "expiry" : "answer",
      how.version ?? "",
      errorArg(how.error, this.codec),
      retentionArg(this.retention),
    ]);
    if (what === "answered" || what === "waiting") return parseTransition(run, rest[0]);
    if (what === "already") {
      const earlier = openJson(String(rest[0]), this.codec) as StoredAnswer;
      if (isSameMessage(earlier, answer)) return null;
      throw answeredBefore(approvalId, earlier);
    }
    throw notAnswerable(approvalId, what, String(rest[0]));
  }

  /** Ends a run that no worker has, or marks a running one; its worker must then be told. */
  async cancel(
    run: RunRef,
    error: ErrorInfo,
    messageId = "",
  ): Promise<{ transition: Transition | null; worker: string | null }> {
    const { what, rest } = await this.run(scripts.cancel, run, [
      errorArg(error, this.codec),
      retentionArg(this.retention),
      sourcesOf("cancelled").join(","),
      "cancelled",
      "0",
      messageId,
    ]);
    if (what === "unknown") throw unknownRun(run.runId);
    if (what === "before") return { transition: null, worker: null };
    if (what === "final") {
      throw new DroverError(
        "ILLEGAL_TRANSITION",
        `Run ${run.runId} is ${rest[0]} already; nothing is left to cancel.`,
      );
    }
    return what === "ended"
      ? { transition: parseTransition(run, rest[0]), worker: null }
      : { transition: null, worker: String(rest[0]) };
  }

  /** Ends a run whose deadline passed while no worker had it. Null where that is not so. */
  async expire(run: RunRef, error: ErrorInfo): Promise<Transition | null> {
    const { what, rest } = await this.run(scripts.cancel, run, [
      errorArg(error, this.codec),
      retentionArg(this.retention),
      sourcesOf("timeout").join(","),
      "timeout",
      "1",
      "",
    ]);
    return what === "ended" ? parseTransition(run, rest[0]) : null;
  }

  /** Ends a run that no worker can take. Null where one has it, or it ended. */
  async fail(run: RunRef, error: ErrorInfo): Promise<Transition | null> {
    const args = [errorArg(error, this.codec), retentionArg(this.retention), "pending", "error", "0", ""];
    const { what, rest } = await this.run(scripts.cancel, run, args);
    return what === "ended" ? parseTransition(run, rest[0]) : null;
  }

  /**
   * Takes a run away from a worker that died, or that leaves. Also gives what that worker left unpublished.
   * @param died whether this counts as a crash of the run
   */
  async takeover(
    run: RunRef,
    gone: string,
    died = true,
  ): Promise<{ taken: boolean; transitions: Transition[] }> {
    const poisoned: ErrorInfo = {
      code: "POISONED",
      message: `Its worker died ${this.maxCrashes} times or more while it executed this run, the last time while it worked on nothing else. Look at the workers' logs, mend the cause, then retry the run.`,
    };
    const { what, rest } = await this.run(scripts.takeover, run, [
      gone,
      this.maxCrashes,
      errorArg(poisoned, this.codec),
      retentionArg(this.retention),
      died ? 1 : 0,
    ]);
    return { taken: what !== "none", transitions: parseTransitions(run, rest) };
  }

  async redeliver(run: RunRef, seq: number): Promise<Transition | null> {
    const { what, rest } = await this.run(scripts.redeliver, run, [seq]);
    return what === "redelivered" ? parseTransition(run, rest[0]) : null;
  }

  /**
   * Before the shares of a run that stands still are taken away: whoever took them and has not claimed the run must
   * take them again. Gives the delivery up to which they may be taken away; null where the run does not wait.
   */
  async withhold(run: RunRef): Promise<Pointer | null> {
    const { what, rest } = await this.run(scripts.withhold, run, []);
    return what === "withheld" ? { ...run, seq: Number(rest[0]), delivery: Number(rest[1]) } : null;
  }

  /** Null where the same message reopened it before. */
  async reopen(run: RunRef, messageId = ""): Promise<Transition | null> {
    const from = sourcesOf("pending").filter((status) => status !== "running" && status !== "interrupted");
    const { what, rest } = await this.run(scripts.reopen, run, [from.join(","), messageId]);
    if (what === "unknown") throw unknownRun(run.runId);
    if (what === "before") return null;
    if (what === "refused") {
      throw new DroverError(
        "ILLEGAL_TRANSITION",
        `Run ${run.runId} is ${rest[0]}; only a run that failed can be retried.`,
      );
    }
    return parseTransition(run, rest[0]);
  }

  /** What indexes and queue may not have learnt of a thread. */
  async unpublished(thread: ThreadRef): Promise<Transition[]> {
    const { base } = this.keys.thread(thread.tenant, thread.threadId);
    const reply = await runScript(this.redis, scripts.republish, [base], []);
    return parseTransitions(thread, reply as Buffer[]);
  }

  async acknowledge(transition: Transition): Promise<void> {
    const { outbox } = this.keys.thread(transition.tenant, transition.threadId);
    await this.redis.hdel(outbox, outboxField(transition));
  }

  private async run(script: Script, run: RunRef, args: ScriptArg[]) {
    const { base } = this.keys.thread(run.tenant, run.threadId);
    return replyWords(await runScript(this.redis, script, [base], [run.runId, ...args]));
  }
}

/** A run that was accepted before, as it stands now. */
const existing = (transition: Transition): Admitted => ({
  what: "exists",
  transition,
  behind: transition.behind,
});
