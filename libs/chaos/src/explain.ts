import type { ChaosResult } from "./chaos.js";

/** How many faults are told with their whole history. */
const TOLD = 5;

/** For a person: each fault with the history of the run concerned, and how to have it again. */
export function explain(result: ChaosResult, command: string): string {
  const told = new Set<string>();
  const lines = [`${result.faults.length} faults with seed ${result.report.seed}. To repeat: ${command}`];
  for (const fault of result.faults) {
    lines.push("", `${fault.kind}: ${fault.run ? `${fault.run}: ` : ""}${fault.what}`);
    if (fault.run === null || told.has(fault.run) || told.size >= TOLD) continue;
    told.add(fault.run);
    lines.push(...historyOf(result, fault.run));
  }
  return lines.join("\n");
}

/** Everything about one run in the order of time: its events, its lines in the ledger, what was done meanwhile. */
export function historyOf({ histories, ledger, happenings }: ChaosResult, label: string): string[] {
  const history = histories.find(({ plan }) => plan.label === label);
  if (!history) return [];
  const { events, record, plan, attempts } = history;
  const own = ledger.filter((line) => line.run === label);
  const moments = [
    ...events.map(({ id, ...event }) => ({ at: Number(id.split("-")[0]), what: JSON.stringify(event) })),
    ...own.map(({ at, ...line }) => ({ at, what: `ledger ${line.what} ${line.name} by ${line.pid}` })),
  ];
  const first = record?.createdAt ?? Math.min(...moments.map(({ at }) => at));
  const last = Math.max(first, ...moments.map(({ at }) => at)) + 1000;
  const around = happenings.filter(({ at }) => at >= first - 1000 && at <= last);
  const all = [...moments, ...around.map(({ at, what }) => ({ at, what: `* ${what}` }))];
  return [
    `  planned: ${JSON.stringify(plan)}`,
    `  accepted: ${history.acceptance}, run ${history.runId}`,
    ...all.sort((a, b) => a.at - b.at).map(({ at, what }) => `  ${at - first} ms ${what}`),
    ...(attempts.length > 0 ? [`  answers: ${JSON.stringify(attempts)}`] : []),
    `  record: ${JSON.stringify(record)}`,
  ];
}
