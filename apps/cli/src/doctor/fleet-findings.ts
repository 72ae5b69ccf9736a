import type { Client } from "@drover/queue";
import type { AgentRegistry } from "@drover/runtime";
import { count, counted } from "../output/format.js";
import { type Finding, note, ok, wrong } from "./finding.js";

/**
 * What the state says: who works, what nobody works on, what was left behind.
 * @param isShort whether Redis has hardly any memory left: then it may refuse that workers say that they live
 */
export async function fleetFindings(
  client: Client,
  invocation: string,
  isShort: boolean,
): Promise<Finding[]> {
  const { state, tenant, queue } = client;
  const [workers, pending, paused, due, held, keys, marked] = await Promise.all([
    state.workers.list(),
    state.indexes.count(tenant, "pending"),
    state.workers.pauses(),
    state.indexes.countDue(),
    queue.counts(),
    state.redis.dbsize(),
    state.marks.before(Date.now() - 60_000, 1),
  ]);
  const findings = [ok("keys", `${count(keys)} in this database, under ${state.keys.prefix}:`)];
  const start = isShort
    ? "Give Redis memory first: without any it refuses the signs of life of workers that run."
    : `Start one: ${invocation} worker`;
  if (workers.length > 0) {
    const slots = workers.reduce((sum, { description }) => sum + description.concurrency, 0);
    findings.push(ok("workers", `${counted(workers.length, "worker")}, ${counted(slots, "slot")}`));
  } else if (pending > 0) {
    findings.push(
      wrong("workers", `${counted(pending, "run")} pending, and no worker is known to run`, start),
    );
  } else findings.push(note("workers", "none is known to run", start));
  if (paused.length > 0)
    findings.push(note("paused", paused.join(", "), `${invocation} queue resume --help`));
  const onQueue = held.waiting + held.active + held.delayed;
  if (due > onQueue && workers.length === 0) {
    findings.push(
      note(
        "queue",
        `${counted(due - onQueue, "run")} fell off the queue`,
        "The next worker puts them back on it.",
      ),
    );
  } else findings.push(ok("queue", `${count(held.waiting)} waiting, ${count(held.active)} with workers`));
  if (marked.length > 0 && workers.length > 0) {
    findings.push(
      wrong(
        "publishing",
        "what a producer accepted more than a minute ago has not reached the queue",
        "Look at the workers' logs: their sweeper should have done that.",
      ),
    );
  }
  return findings;
}

/** Whether what this project has is what the fleet runs. */
export function agentFindings(
  agents: AgentRegistry | null,
  announced: Readonly<Record<string, string>>,
): Finding[] {
  if (!agents) {
    const names = Object.keys(announced).join(", ");
    return [note("agents", `none of this folder; workers have announced: ${names || "none"}`)];
  }
  return agents.list().map(({ name, version }) => {
    const fleet = announced[name];
    if (fleet === undefined || fleet === version) return ok("agents", `${name}, version ${version}`);
    return note(
      "agents",
      `${name} is version ${version} here, ${fleet} in the fleet`,
      "Start the workers again with this project, if that was not meant.",
    );
  });
}
