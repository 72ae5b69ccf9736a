/** Invariant 6 for runs: of one concurrency key no more are worked on at once than its limit says. */
import type { RunEvent } from "@drover/contracts";
import type { RunHistory } from "./history.js";
import { CONCURRENT } from "./plan.js";
import type { Fault } from "./report.js";

interface Stretch {
  run: string;
  from: number;
  to: number;
}

const momentOf = (event: RunEvent): number => Number(event.id.split("-")[0]);

/**
 * The times for which a run was worked on for sure. Where its worker was killed nobody can tell when that ended: the
 * time until another one has it is left out.
 */
function stretchesOf({ plan, events }: RunHistory): Stretch[] {
  const statuses = events.filter((event) => event.type === "status");
  return statuses.flatMap((event, i) => {
    const next = statuses[i + 1];
    if (event.status !== "running" || !next || next.status === "running" || next.seq !== event.seq) return [];
    return [{ run: plan.label, from: momentOf(event), to: momentOf(next) }];
  });
}

export function checkConcurrency(histories: readonly RunHistory[]): Fault[] {
  const faults: Fault[] = [];
  const keys = new Set(histories.flatMap(({ plan }) => plan.concurrencyKey ?? []));
  for (const key of keys) {
    const all = histories.filter(({ plan }) => plan.concurrencyKey === key).flatMap(stretchesOf);
    for (const { run, from } of all) {
      const together = all.filter((other) => other.from <= from && from < other.to).map((other) => other.run);
      if (together.length <= CONCURRENT) continue;
      const what = `${together.join(", ")} of key '${key}' were worked on at once; its limit is ${CONCURRENT}`;
      faults.push({ kind: "limitExceeded", run, what });
    }
  }
  return faults;
}
