/** Removes every trace of a thread, or of a subject: the threads of all runs whose metadata name it. */
import { isFinal, type Run } from "@drover/contracts";
import {
  decodeId,
  encodeId,
  eraseThreadKeys,
  keysUnder,
  type RunRef,
  type State,
  type Subject,
  subjectField,
  type ThreadRef,
  threadInUse,
  threadMember,
  tracesOf,
} from "@drover/state";
import { jsonKeyStarts } from "@drover/state/checkpoints";
import { RedisStore } from "@drover/state/memory";
import { type IsTrace, scrub } from "./scrub.js";

/** What was removed. */
export interface Erased {
  threads: number;
  runs: number;
  /** Keys, and members and entries of keys that others share. */
  traces: number;
  memoryItems: number;
  deadLetters: number;
}

/** Ids of runs, and of approvals. */
const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|apr_[0-9a-f]{20}/g;
const PAGE = 500;
const MOST_LETTERS = 100_000;

/**
 * Removes the threads and all that speaks of them. Nothing is removed while a run of one of them is not over.
 * @throws DroverError ILLEGAL_TRANSITION that names such a run
 */
export async function eraseThreads(
  state: State,
  tenant: string,
  threadIds: readonly string[],
  subject?: Subject,
): Promise<Erased> {
  const { redis, keys } = state;
  const ids = new Set<string>();
  const erased: Erased = { threads: 0, runs: 0, traces: 0, memoryItems: 0, deadLetters: 0 };
  for (const threadId of threadIds) await assertIdle(state, { tenant, threadId });
  for (const threadId of threadIds) {
    const thread = { tenant, threadId };
    const { names, runIds, approvalIds } = await tracesOf(redis, keys, thread);
    erased.traces += await eraseThreadKeys(redis, keys, thread, names);
    for (const start of jsonKeyStarts(keys, thread)) {
      for await (const page of keysUnder(redis, start)) {
        erased.traces += (await Promise.all(page.map((name) => redis.del(name)))).length;
      }
    }
    // By their own way first: what counts runs counts down.
    await Promise.all(runIds.map((runId) => forgetRun(state, { ...thread, runId })));
    erased.traces += await redis.zrem(
      keys.index(`checkpoint-threads:${encodeId(tenant)}`),
      encodeId(threadId),
    );
    for (const id of [...runIds, ...approvalIds]) ids.add(id);
    erased.runs += runIds.length;
    if (names.length > 0) erased.threads += 1;
  }
  const names = [...threadIds, ...(subject ? [subject.value] : [])];
  if (threadIds.length > 0) erased.traces += await scrub(state, traceOf(state, tenant, threadIds, ids));
  erased.memoryItems = await eraseMemory(state, tenant, new Set(names));
  erased.deadLetters = await eraseLetters(state, tenant, ids, names);
  return erased;
}

/** The threads of all runs whose metadata have the value: of those that are kept, and of those that a thread outlived. */
export async function threadsOfSubject(
  state: State,
  tenant: string,
  runs: AsyncIterable<Run>,
  subject: Subject,
): Promise<string[]> {
  const { key, value } = subject;
  const found = new Set<string>();
  for await (const { metadata, threadId } of runs) {
    if (Object.hasOwn(metadata, key) && String(metadata[key]) === value) found.add(threadId);
  }
  for await (const threadId of threadsNaming(state, tenant, subject)) found.add(threadId);
  return [...found];
}

/** Threads whose record says that a run named the subject, of all that are kept, whoever kept their checkpoints. */
async function* threadsNaming(
  { redis, keys }: State,
  tenant: string,
  subject: Subject,
): AsyncGenerator<string> {
  const field = subjectField(subject);
  const start = `${keys.prefix}:{${encodeId(tenant)}/`;
  const end = "}:thread";
  for await (const page of keysUnder(redis, start)) {
    const records = page.filter((name) => name.endsWith(end));
    const named = await Promise.all(records.map((name) => redis.hexists(name, field)));
    const naming = records.filter((_, i) => named[i] === 1);
    yield* naming.map((name) => decodeId(name.slice(start.length, -end.length)));
  }
}

async function assertIdle({ redis, keys }: State, thread: ThreadRef): Promise<void> {
  const current = await redis.hget(keys.thread(thread.tenant, thread.threadId).thread, "current");
  if (current) throw threadInUse(thread.threadId, current);
}

async function forgetRun({ indexes, reader }: State, run: RunRef): Promise<void> {
  const kept = await reader.run(run, false);
  // A run that was accepted meanwhile is another one's.
  if (kept === null || isFinal(kept.status)) await indexes.forget(run.runId);
}

/** Ids of runs and approvals are unique in themselves; those of threads only with their tenant. */
function traceOf(
  { keys }: State,
  tenant: string,
  threadIds: readonly string[],
  ids: ReadonlySet<string>,
): IsTrace {
  const members = threadIds.map((threadId) => threadMember({ tenant, threadId }));
  const fields = threadIds.map((threadId) => `"threadId":${JSON.stringify(threadId)}`);
  const ofTenant = `"tenant":${JSON.stringify(tenant)}`;
  const bound = keys.index(`idempotency:${encodeId(tenant)}:`);
  return (text, name) =>
    (text.match(IDS)?.some((id) => ids.has(id)) ?? false) ||
    members.some((m) => text === m || text.startsWith(`${m}/`) || text.includes(`/${m}/`)) ||
    (text.includes(ofTenant) && fields.some((field) => text.includes(field))) ||
    (name.startsWith(bound) && threadIds.some((threadId) => text.startsWith(`${threadId}\n`)));
}

/** What agents remember under a thread's or a subject's name: as a part of a namespace, or as a key. */
async function eraseMemory(state: State, tenant: string, names: ReadonlySet<string>): Promise<number> {
  const { redis, keys, codec } = state;
  const store = new RedisStore({ redis, keys, tenant, ...(codec ? { codec } : {}) });
  const namespaces: string[][] = [];
  for (let page = [[""]]; page.length > 0; namespaces.push(...page)) {
    page = await store.listNamespaces({ limit: PAGE, offset: namespaces.length });
  }
  let erased = 0;
  for (const namespace of namespaces) {
    const isWhole = namespace.some((element) => names.has(element));
    for (const key of isWhole ? await keysIn(store, namespace) : names) {
      if ((await store.get(namespace, key, { refreshTtl: false })) === null) continue;
      await store.delete(namespace, key);
      erased += 1;
    }
  }
  return erased;
}

async function keysIn(store: RedisStore, namespace: string[]): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.search(namespace, { limit: PAGE, offset, refreshTtl: false });
    found.push(...page.filter((item) => item.namespace.length === namespace.length).map(({ key }) => key));
    if (page.length < PAGE) return found;
  }
}

/** Messages that were refused and that name a thread, a run or the subject. */
async function eraseLetters(
  { deadLetters }: State,
  tenant: string,
  ids: ReadonlySet<string>,
  names: readonly string[],
): Promise<number> {
  let erased = 0;
  for (const { id, body } of await deadLetters.list(tenant, MOST_LETTERS)) {
    const isTrace =
      names.some((name) => body.includes(JSON.stringify(name))) || [...ids].some((one) => body.includes(one));
    if (isTrace && (await deadLetters.remove(tenant, id))) erased += 1;
  }
  return erased;
}
