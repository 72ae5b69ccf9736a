/** What a run's history must not show. Each check names the invariant that it guards. */
import { canMove, type ErrorCode, isFinal, type Run, type RunEvent, type RunStatus } from "@drover/contracts";
import type { ChaosAgent } from "./agents.js";
import type { RunHistory } from "./history.js";
import type { LedgerLine } from "./ledger.js";
import { taskOf } from "./producer.js";
import type { Fault, FaultKind } from "./report.js";

type Complain = (kind: FaultKind, what: string) => void;
type StatusEvent = Extract<RunEvent, { type: "status" }>;

export function checkRun(history: RunHistory, agent: ChaosAgent, lines: readonly LedgerLine[]): Fault[] {
  const faults: Fault[] = [];
  const complain: Complain = (kind, what) => faults.push({ kind, run: history.plan.label, what });
  if (history.acceptance === "refused") {
    checkRefusal(history, complain);
    return faults;
  }
  const { record } = history;
  if (!record) {
    if (history.acceptance === "accepted") complain("lost", "there is no record of it");
    return faults;
  }
  if (!isFinal(record.status)) {
    complain(
      "lost",
      `it is still ${record.status} (seq ${record.seq}, ${record.kind}, worker ${record.worker})`,
    );
    return faults;
  }
  checkEnd(history, record, agent, lines, complain);
  checkEvents(history, record, complain);
  checkEffects(lines, complain);
  checkAnswers(history, record, agent, lines, complain);
  return faults;
}

function checkRefusal({ refusedAs, plan }: RunHistory, complain: Complain): void {
  if (plan.strategy === "reject" && refusedAs === "THREAD_BUSY") return;
  complain("lost", `it was refused with ${refusedAs}`);
}

/** Invariant 1: a run ends as its agent, its limits or its people made it end, and for no other reason. */
function checkEnd(
  { plan, cancelled, seen, retries }: RunHistory,
  record: Run,
  agent: ChaosAgent,
  lines: readonly LedgerLine[],
  complain: Complain,
): void {
  const code = record.error?.code;
  const wasReplaced = record.error?.message.startsWith("Another run took its place") ?? false;
  switch (record.status) {
    case "cancelled":
      if (!cancelled && !wasReplaced) complain("lost", "it was cancelled and nobody asked for that");
      break;
    case "timeout":
      if (plan.deadlineMs === null && !mayEndWith(agent, code))
        complain("lost", `it timed out and has no deadline: ${record.error?.message}`);
      break;
    case "error":
      if (!isExplained(code, record, agent)) {
        complain("lost", `it ended with ${code}: ${record.error?.message}`);
      }
      break;
    default:
      for (const what of agent.wrong?.(record, taskOf(plan), lines) ?? []) {
        complain("lost", what);
      }
  }
  if (seen && retries === 0 && JSON.stringify(seen) !== JSON.stringify(record)) {
    complain("staleWrites", `its record changed after its end: ${differences(seen, record)}`);
  }
}

function isExplained(code: ErrorCode | undefined, record: Run, agent: ChaosAgent): boolean {
  if (mayEndWith(agent, code)) return true;
  if (code === "POISONED") return record.crashes >= 3;
  return code === "EFFECT_UNKNOWN" && agent.mayNotKnow === true && record.seq > 1;
}

const mayEndWith = ({ mayEndWith = [] }: ChaosAgent, code: ErrorCode | undefined): boolean =>
  code !== undefined && mayEndWith.includes(code);

function differences(a: Run, b: Run): string {
  const keys = Object.keys(b) as (keyof Run)[];
  return keys
    .filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]))
    .map((key) => `${key} from ${JSON.stringify(a[key])} to ${JSON.stringify(b[key])}`)
    .join(", ");
}

/** Invariants 1 and 2: one end, legal moves, and nothing from an older activation once a newer one has begun. */
function checkEvents({ events, retries }: RunHistory, record: Run, complain: Complain): void {
  const statuses = events.filter((event): event is StatusEvent => event.type === "status");
  const ends = statuses.filter((event) => isFinal(event.status));
  if (ends.length < 1 || ends.length > 1 + retries) {
    complain(
      "twoFinalStates",
      `its events tell of ${ends.length} ends: ${ends.map((e) => e.status).join(", ")}`,
    );
  }
  if (ends.at(-1)?.status !== record.status) {
    complain(
      "twoFinalStates",
      `its events end with ${ends.at(-1)?.status}, its record with ${record.status}`,
    );
  }
  if (ends[0] && retries === 0 && events.at(-1)?.id !== ends[0].id)
    complain("staleWrites", "events were written after its end");
  let newest = 0;
  let before: RunStatus = "pending";
  const claims = new Set<number>();
  for (const event of events) {
    if (event.seq < newest) {
      complain("staleWrites", `an event of activation ${event.seq} came after one of activation ${newest}`);
    }
    newest = Math.max(newest, event.seq);
    if (event.type !== "status") continue;
    if (event.status === "running" && claims.has(event.seq)) {
      complain("staleWrites", `activation ${event.seq} was claimed twice`);
    }
    if (event.status === "running") claims.add(event.seq);
    // Takeovers and answers make a run pending without an event.
    const from: RunStatus[] =
      before === "running" || before === "interrupted" || (retries > 0 && isFinal(before))
        ? [before, "pending"]
        : [before];
    if (!from.some((status) => canMove(status, event.status))) {
      complain("twoFinalStates", `it went from ${before} to ${event.status}`);
    }
    before = event.status;
  }
}

/** Invariant 4. */
function checkEffects(lines: readonly LedgerLine[], complain: Complain): void {
  const started = new Map<string, number>();
  for (const { what, name } of lines) {
    if (what === "once") started.set(name, (started.get(name) ?? 0) + 1);
  }
  for (const [name, times] of started) {
    if (times > 1) complain("onceStartedTwice", `'${name}' was started ${times} times`);
  }
}

/** Invariant 5. */
function checkAnswers(
  { attempts, approvals }: RunHistory,
  record: Run,
  agent: ChaosAgent,
  lines: readonly LedgerLine[],
  complain: Complain,
): void {
  const questions = agent.questions ?? 0;
  if (approvals.length > questions) {
    complain("answeredTwice", `it asked ${approvals.length} questions instead of ${questions}`);
  }
  if (record.status === "success" && approvals.some(({ status }) => status !== "answered")) {
    complain("answeredTwice", "it went on without an answer");
  }
  for (const approval of approvals) {
    const tries = attempts.filter(({ approvalId }) => approvalId === approval.approvalId);
    const taken = tries.filter(({ came }) => came === "taken");
    if (taken.length > 1) complain("answeredTwice", `${taken.length} answers to one question were taken`);
    if (taken.some(({ isWrong }) => isWrong) || approval.answer?.decidedBy === "nobody") {
      complain("answeredTwice", "an answer was taken that does not fit the question");
    }
    const by = approval.answer?.decidedBy;
    if (taken[0] && by !== taken[0].by) {
      complain("answeredTwice", `the answer by ${taken[0].by} was taken, and the one by ${by} is stored`);
    }
    if (record.status !== "success" || !approval.answer) continue;
    const approved = "decisions" in approval.answer && approval.answer.decisions[0]?.type === "approve";
    const acted = lines.some(({ name }) => approval.actions?.some((action) => action.name === name));
    if (approval.actions && approved !== acted) {
      complain(
        "answeredTwice",
        `the answer was ${approved ? "yes" : "no"} and the tool ${acted ? "ran" : "did not run"}`,
      );
    }
    if (!approval.actions && agent.shows && !agent.shows(record, String(by))) {
      const told = JSON.stringify(record.output);
      complain("answeredTwice", `the answer by ${by} is stored and the run ended with ${told}`);
    }
  }
}
