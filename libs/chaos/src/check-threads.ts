/** What the runs of one thread must not show together. */
import { isFinal, type RunEvent } from "@drover/contracts";
import type { ChaosAgent } from "./agents.js";
import type { RunHistory } from "./history.js";
import type { LedgerLine } from "./ledger.js";
import type { Fault } from "./report.js";

/** @param histories the thread's runs in the order in which they were accepted */
export function checkThread(
  thread: string,
  agent: ChaosAgent,
  histories: readonly RunHistory[],
  lines: readonly LedgerLine[],
): Fault[] {
  return [...checkOrder(histories), ...checkLimit(thread, agent, lines)];
}

/** Milliseconds by which a run may begin before its delay is over: as much as clocks in step may differ. */
const CLOCKS_DIFFER_MS = 100;

/** Invariant 3. A run whose acceptance is not known has no place in the order. */
function checkOrder(histories: readonly RunHistory[]): Fault[] {
  const faults: Fault[] = [];
  let before: RunHistory | null = null;
  for (const history of histories) {
    const began = history.events.find((event) => event.type === "status" && event.status === "running");
    if (history.acceptance !== "accepted" || !began) continue;
    const { delayMs, label } = history.plan;
    const wait = momentOf(began) - (history.record?.createdAt ?? 0);
    if (wait < delayMs - CLOCKS_DIFFER_MS) {
      faults.push({
        kind: "orderBroken",
        run: label,
        what: `it began after ${wait} ms, its delay is ${delayMs} ms`,
      });
    }
    const ended = before?.events.find((event) => event.type === "status" && isFinal(event.status));
    if (before && ended && momentOf(began) < momentOf(ended)) {
      const early = momentOf(ended) - momentOf(began);
      faults.push({
        kind: "orderBroken",
        run: label,
        what: `it began ${early} ms before ${before.plan.label} ended`,
      });
    }
    before = history;
  }
  return faults;
}

/** Milliseconds by Redis's clock. */
const momentOf = (event: RunEvent): number => Number(event.id.split("-")[0]);

/** Invariant 6. */
function checkLimit(thread: string, agent: ChaosAgent, lines: readonly LedgerLine[]): Fault[] {
  const limit = agent.threadModelCalls;
  const calls = lines.filter(({ what }) => what === "model").length;
  if (limit === undefined || calls <= limit) return [];
  const what = `thread '${thread}' made ${calls} requests to the model of ${limit}`;
  return [{ kind: "limitExceeded", run: lines.at(-1)?.run ?? null, what }];
}
