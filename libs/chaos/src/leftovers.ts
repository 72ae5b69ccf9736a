/** What is left in Redis when every run has ended: nothing that holds a slot, no key that no one owns. */
import { FINAL_STATUSES, RUN_STATUSES } from "@drover/contracts";
import type { RunQueue } from "@drover/queue";
import { encodeId, readFleetFigures, type State } from "@drover/state";
import type { Fault } from "./report.js";

export interface Leftovers {
  /** What still holds, or waits for, a worker's slot. */
  slots: string[];
  keys: string[];
}

/** Keys that are there for as long as Drover is. The rest of a name is a tenant. */
const PERMANENT =
  /^(workers|agents|agents-terms|pauses|marks|due|deadlines|early|expiring|states|parked-scopes|dead-runs|batches-open|approvals-waiting|runs:[^:]+(:\w+)?|approvals:[^:]+(:runs)?|batches:[^:]+)$/;
const BULL = /:[a-z]+:(id|meta|events|marker|stalled-check|stalled|pc|limiter)$/;

/** Reads everything. Meant for a harness's own Redis. */
export async function leftovers(state: State, queue: RunQueue): Promise<Leftovers> {
  const { redis, keys } = state;
  const all = await redis.keys("*");
  const expiring = new Set(await withExpiry(state, all));
  const slots: string[] = [];
  const leaked: string[] = [];
  const { active, waiting, delayed } = await queue.counts();
  if (active + waiting + delayed > 0)
    slots.push(`the queue holds ${active} active, ${waiting} waiting, ${delayed} delayed jobs`);
  const index = keys.index("");
  const workers = new Set(await redis.zrange(`${index}workers`, 0, "-1"));
  for (const name of ["due", "marks", "deadlines", "early"]) {
    const all = await redis.zrange(`${index}${name}`, 0, "-1");
    // A mark that was seen to is looked at once more, half a minute later.
    const left = all.filter((member) => !member.endsWith("/again"));
    if (left.length > 0) slots.push(`${name} holds ${left.slice(0, 5).join(", ")}`);
  }
  for (const key of all) {
    if (key.startsWith(index)) {
      const name = key.slice(index.length);
      const owner = name.slice(name.indexOf(":") + 1);
      if (name.startsWith("claims:")) slots.push(`worker ${owner} has ${await redis.smembers(key)}`);
      else if (
        /^(worker|cancels):/.test(name)
          ? !workers.has(owner)
          : !(await isOwned(state, name, expiring.has(key)))
      )
        leaked.push(key);
    } else if (key.startsWith(keys.bull)) {
      if (!BULL.test(key)) leaked.push(key);
    } else if (!expiring.has(key)) {
      leaked.push(key);
    }
    if (key.endsWith(":lane")) slots.push(`${key} holds ${await redis.llen(key)} runs`);
    if (key.endsWith(":thread")) {
      const [current, holder] = await redis.hmget(key, "current", "holder");
      if (current || holder) slots.push(`${key} is held by ${current}, ${holder}`);
    }
  }
  return { slots, keys: leaked };
}

async function isOwned({ redis, keys }: State, name: string, expires: boolean): Promise<boolean> {
  if (expires || PERMANENT.test(name)) return true;
  const [kind, id = ""] = name.split(/:(.*)/s);
  if (kind === "run") return (await redis.zscore(keys.index("expiring"), id)) !== null;
  if (kind === "parked") return (await redis.hexists(keys.index("pauses"), decodeURIComponent(id))) === 1;
  return false;
}

async function withExpiry({ redis }: State, keys: readonly string[]): Promise<string[]> {
  const times = await Promise.all(keys.map((key) => redis.pttl(key)));
  return keys.filter((_, i) => (times[i] ?? -1) >= 0);
}

/** Every run's lists against its record, and the batch's counters against its runs. */
export async function checkLists(state: State, tenant: string, batchId: string): Promise<Fault[]> {
  const { redis, keys } = state;
  const faults: Fault[] = [];
  const disagree = (what: string) => faults.push({ kind: "twoFinalStates", run: null, what });
  const listed = new Map<string, string[]>();
  for (const status of RUN_STATUSES) {
    for (const id of await redis.zrange(keys.index(`runs:${encodeId(tenant)}:${status}`), 0, "-1")) {
      listed.set(id, [...(listed.get(id) ?? []), status]);
    }
  }
  const { runs } = await readFleetFigures(state);
  for (const status of RUN_STATUSES) {
    const count = [...listed.values()].filter((lists) => lists.includes(status)).length;
    if (runs[status] !== count)
      disagree(`the fleet counts ${runs[status]} runs that are ${status}; ${count} are listed`);
  }
  const inBatch = new Map<string, number>();
  for (const key of await redis.keys(`${keys.prefix}:{${encodeId(tenant)}/*:run:*`)) {
    const id = key.slice(key.lastIndexOf(":") + 1);
    const [status, batch] = await redis.hmget(key, "status", "batch");
    const lists = listed.get(id) ?? [];
    if (lists.length !== 1 || lists[0] !== status) {
      disagree(`run ${id} is ${status} and stands in the lists: ${lists.join(", ") || "none"}`);
    }
    if (!(FINAL_STATUSES as readonly (string | null)[]).includes(status ?? null)) {
      faults.push({ kind: "lost", run: null, what: `run ${id} is ${status}` });
    }
    if (batch === batchId) inBatch.set(status ?? "", (inBatch.get(status ?? "") ?? 0) + 1);
  }
  const { counts, finishedAt, total } = await state.batches.get(batchId, tenant);
  for (const [status, count] of Object.entries(counts)) {
    if (count !== (inBatch.get(status) ?? 0)) {
      disagree(`the batch counts ${count} runs that are ${status}; there are ${inBatch.get(status) ?? 0}`);
    }
  }
  if (finishedAt === null) disagree(`the batch of ${total} runs does not say that it is finished`);
  return faults;
}
