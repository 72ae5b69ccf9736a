import { setTimeout as sleep } from "node:timers/promises";
import {
  type Answer,
  type Approval,
  isDroverError,
  isFinal,
  isStoreFailure,
  type RunRequest,
} from "@drover/contracts";
import type { Client } from "@drover/queue";
import { followEvents } from "@drover/state";
import type { ChaosAgent, Task } from "./agents.js";
import type { Arena } from "./arena.js";
import type { RunHistory } from "./history.js";
import { CONCURRENT, type PlannedRun } from "./plan.js";

/** Milliseconds between two tries of what failed because Redis was away. */
const AGAIN_MS = 250;

/** Enqueues what the plan says, answers what the runs ask, and sees each of them to its end. */
export class Producer {
  /** The last enqueueing of each thread: a thread's runs are accepted in the plan's order. */
  private readonly queues = new Map<string, Promise<unknown>>();

  constructor(
    private readonly arena: Arena,
    private readonly agents: ReadonlyMap<string, ChaosAgent>,
    private readonly batchId: string,
  ) {}

  /** Resolves when the run has ended, was not accepted, or `signal` fired. */
  async see(history: RunHistory, signal: AbortSignal): Promise<void> {
    const { plan } = history;
    const turn = this.queues.get(plan.thread) ?? Promise.resolve();
    const accepted = turn.then(() => this.enqueue(history, signal));
    this.queues.set(
      plan.thread,
      accepted.catch(() => {}),
    );
    await accepted;
    if (history.acceptance === "accepted") await this.follow(history, signal);
  }

  private async enqueue(history: RunHistory, signal: AbortSignal): Promise<void> {
    const { plan } = history;
    const request = this.requestOf(plan);
    while (!signal.aborted) {
      try {
        const handle = await this.arena.producer.enqueueRun(request);
        history.runId = handle.runId;
        history.acceptance = "accepted";
        return;
      } catch (error) {
        if (!isStoreFailure(error)) {
          history.acceptance = "refused";
          history.refusedAs = isDroverError(error) ? error.code : String(error);
          return;
        }
        if (!plan.keyed) return;
        await sleep(AGAIN_MS);
      }
    }
  }

  private requestOf(plan: PlannedRun): RunRequest {
    const agent = this.agents.get(plan.agent) as ChaosAgent;
    return {
      agent: plan.agent,
      input: agent.input(taskOf(plan)),
      threadId: plan.thread,
      priority: plan.priority,
      delayMs: plan.delayMs,
      multitaskStrategy: plan.strategy,
      metadata: { label: plan.label },
      ...(plan.deadlineMs === null ? {} : { deadlineMs: plan.deadlineMs }),
      ...(plan.keyed ? { idempotencyKey: `chaos-${plan.label}` } : {}),
      ...(plan.batch ? { batchId: this.batchId } : {}),
      ...(plan.concurrencyKey ? { concurrencyKey: plan.concurrencyKey, concurrencyLimit: CONCURRENT } : {}),
    };
  }

  private async follow(history: RunHistory, signal: AbortSignal): Promise<void> {
    const { state, subscriptions } = this.arena;
    const events = followEvents(state.redis, state.keys, subscriptions, refOf(history), { signal });
    for await (const event of events) {
      if (event.type !== "status") continue;
      if (event.status === "interrupted") await this.answer(history, signal);
      if (isFinal(event.status)) history.seen = await state.reader.run(refOf(history));
    }
  }

  private async answer(history: RunHistory, signal: AbortSignal): Promise<void> {
    const { plan } = history;
    await sleep(plan.answer.afterMs);
    while (!signal.aborted) {
      const approvals = await this.arena.state.reader.approvals(refOf(history));
      const open = approvals.filter(({ status }) => status === "pending");
      if (open.length === 0) return;
      for (const approval of open) await this.decide(history, approval);
      await sleep(AGAIN_MS);
    }
  }

  /** Answers what runs ask whose producer was never told that they exist, until `signal` fires. */
  async answerStrangers(known: ReadonlyMap<string, RunHistory>, signal: AbortSignal): Promise<void> {
    const { observer } = this.arena;
    while (!signal.aborted) {
      const own = new Set([...known.values()].map(({ runId }) => runId));
      const asked = await observer.listApprovals(100).catch(() => []);
      for (const approval of asked.filter(({ runId }) => !own.has(runId))) {
        await observer.decide(approval.approvalId, rightAnswer(approval, true, "stranger")).catch(() => {});
      }
      await sleep(4 * AGAIN_MS);
    }
  }

  private async decide(history: RunHistory, approval: Approval): Promise<void> {
    const { approves, wrongFirst, twice } = history.plan.answer;
    const { producer, reviewer } = this.arena;
    if (wrongFirst) await this.attempt(history, producer, approval, true, true, "nobody");
    const one = this.attempt(history, producer, approval, approves, false, "one");
    const other = twice ? this.attempt(history, reviewer, approval, !approves, false, "other") : null;
    await Promise.all([one, other]);
  }

  private async attempt(
    history: RunHistory,
    client: Client,
    approval: Approval,
    approves: boolean,
    isWrong: boolean,
    by: string,
  ): Promise<void> {
    this.arena.count("answers");
    const answer = isWrong ? wrongAnswer(approval) : rightAnswer(approval, approves, by);
    const came = await client.decide(approval.approvalId, answer).then(
      () => "taken",
      (error: unknown) => (isDroverError(error) ? error.code : String(error)),
    );
    history.attempts.push({ approvalId: approval.approvalId, by, approves, isWrong, came });
  }
}

export function taskOf(plan: PlannedRun): Task {
  return { run: plan.label, thread: plan.thread, ms: plan.ms };
}

export function refOf(history: RunHistory) {
  return { tenant: "default", threadId: history.threadId, runId: history.runId ?? "" };
}

function rightAnswer({ actions }: Approval, approves: boolean, by: string): Answer {
  if (!actions) return { value: by, decidedBy: by };
  const decisions = actions.map(() =>
    approves ? ({ type: "approve" } as const) : ({ type: "reject", message: "no" } as const),
  );
  return { decisions, decidedBy: by };
}

function wrongAnswer({ actions }: Approval): Answer {
  if (!actions) return { decisions: [{ type: "approve" }], decidedBy: "nobody" };
  return {
    decisions: [...actions, ...actions].map(() => ({ type: "approve" }) as const),
    decidedBy: "nobody",
  };
}
