/** Everything in a Redis that people and models wrote, by the record that holds it. Reads, and changes nothing. */
import type { RedactionPlace } from "@drover/contracts";
import { decodeId, openJson, type Redis, readEvent, type State } from "@drover/state";
import { RedisSaver } from "@drover/state/checkpoints";
import { RedisStore } from "@drover/state/memory";

export interface StoredPart {
  place: RedactionPlace;
  field: string;
  value: unknown;
}

export interface StoredRecord {
  kind: "run" | "event" | "checkpoint" | "effect" | "memory" | "batch" | "dead_letter" | "queue";
  tenant: string | null;
  threadId: string | null;
  runId: string | null;
  /** What names the record beside these: a memory item's namespace and key, a checkpoint, a queue's job. */
  name: string | null;
  /** Whose rules hold; null where nobody knows. */
  agent: string | null;
  parts: StoredPart[];
}

type Read = (state: State, key: string, match: RegExpExecArray) => AsyncIterable<StoredRecord>;
const BLANK = { tenant: null, threadId: null, runId: null, name: null, agent: null };

/** Keys behind the prefix, and how what they hold is read. */
const KINDS: readonly (readonly [pattern: RegExp, read: Read])[] = [
  [/^\{([^/}]+)\/([^}]+)\}:run:([^:]+)$/, readRun],
  [/^\{([^/}]+)\/([^}]+)\}:events:([^:]+)$/, readEvents],
  [/^\{([^/}]+)\/([^}]+)\}:effects$/, readEffects],
  [/^\{([^/}]+)\/([^}]+)\}:cp$/, readCheckpoints],
  [/^\{([^/}]+)\/~memory\.\d+\}:n$/, readMemory],
  [/^\{index\}:batch:([^:]+)$/, readBatch],
  [/^\{index\}:dead-letters:([^:]+)$/, readDeadLetters],
];

/** @param onKeys told how many keys were looked at so far */
export async function* storedRecords(
  state: State,
  onKeys: (count: number) => void,
): AsyncGenerator<StoredRecord> {
  const { redis, keys } = state;
  const seen = new Set<string>();
  let count = 0;
  for await (const key of allKeys(redis, `${keys.prefix}:*`)) {
    onKeys(++count);
    const rest = key.slice(keys.prefix.length + 1);
    for (const [pattern, read] of KINDS) {
      const match = pattern.exec(rest);
      // A tenant's memory is spread over many keys and read as one.
      const once = read === readMemory ? `memory ${match?.[1]}` : key;
      if (!match || seen.has(once)) continue;
      seen.add(once);
      yield* read(state, key, match);
    }
  }
  for await (const key of allKeys(redis, `${keys.bull.replace(/[{}]/g, "\\$&")}:*:*`)) {
    onKeys(++count);
    yield* readJob(state, key, key.slice(keys.bull.length + 1));
  }
}

async function* allKeys(redis: Redis, pattern: string): AsyncGenerator<string> {
  const cluster = redis as unknown as { isCluster: boolean; nodes(role: "master"): Redis[] };
  for (const node of cluster.isCluster ? cluster.nodes("master") : [redis]) {
    for await (const page of node.scanStream({ match: pattern, count: 1000 })) yield* page as string[];
  }
}

async function* readRun(state: State, _: string, match: RegExpExecArray): AsyncGenerator<StoredRecord> {
  const ref = refIn(match);
  const run = await state.reader.run(ref);
  if (!run) return;
  const given = await state.reader.input(ref);
  const approvals = await state.reader.approvals(ref);
  const { metadata, tags, document, output, error, cancelReason, agent } = run;
  const parts: StoredPart[] = [
    { place: "input", field: "input", value: given?.input },
    { place: "input", field: "context", value: given?.context },
    { place: "metadata", field: "", value: { metadata, tags, document, threadId: ref.threadId } },
    { place: "output", field: "output", value: output },
    { place: "error", field: "", value: { error, cancelReason } },
    ...approvals.map(({ approvalId, value, actions, answer }) => ({
      place: "approval" as const,
      field: `approvals[${approvalId}]`,
      value: { value, actions, answer },
    })),
  ];
  yield { ...BLANK, ...ref, kind: "run", agent, parts };
}

async function* readEvents(state: State, key: string, match: RegExpExecArray): AsyncGenerator<StoredRecord> {
  const ref = refIn(match);
  const agent = (await state.reader.run(ref, false))?.agent ?? null;
  for (let last = "-"; ; ) {
    const page = await state.redis.xrange(key, last, "+", "COUNT", 500);
    const parts = page.map(([id, fields]) => ({
      place: "event" as const,
      field: `[${id}]`,
      value: readEvent(fields[1] ?? "{}", state.codec) as unknown,
    }));
    if (parts.length > 0) yield { ...BLANK, ...ref, kind: "event", agent, parts };
    if (page.length < 500) return;
    last = `(${page.at(-1)?.[0]}`;
  }
}

async function* readEffects(state: State, key: string, match: RegExpExecArray): AsyncGenerator<StoredRecord> {
  const { tenant, threadId } = refIn(match);
  const parts: StoredPart[] = Object.entries(await state.redis.hgetall(key))
    .filter(([, stored]) => stored.startsWith("done:"))
    .map(([id, stored]) => ({
      place: "tool_result",
      field: `[${id}]`,
      value: openJson(stored.slice("done:".length), state.codec),
    }));
  yield { ...BLANK, tenant, threadId, kind: "effect", parts };
}

async function* readCheckpoints(
  state: State,
  _: string,
  match: RegExpExecArray,
): AsyncGenerator<StoredRecord> {
  const { tenant, threadId } = refIn(match);
  const { redis, keys, codec } = state;
  const saver = new RedisSaver({ redis, keys, tenant, ...(codec ? { codec } : {}) });
  for await (const { checkpoint, metadata, pendingWrites = [] } of saver.list({
    configurable: { thread_id: threadId },
  })) {
    const parts: StoredPart[] = [
      { place: "output", field: "", value: checkpoint.channel_values },
      { place: "metadata", field: "metadata", value: metadata },
      ...pendingWrites.map(([, channel, value]) => ({
        place: channel === "__error__" ? ("error" as const) : ("output" as const),
        field: `writes.${channel}`,
        value: value as unknown,
      })),
    ];
    const agent = (metadata as { agent?: string } | undefined)?.agent ?? null;
    yield { ...BLANK, tenant, threadId, name: checkpoint.id, kind: "checkpoint", agent, parts };
  }
}

const MEMORY_PAGE = 200;

async function* readMemory(state: State, _: string, match: RegExpExecArray): AsyncGenerator<StoredRecord> {
  const tenant = decodeId(match[1] ?? "");
  const { redis, keys, codec } = state;
  const store = new RedisStore({
    redis,
    keys,
    tenant,
    retention: { refreshOnRead: false },
    ...(codec ? { codec } : {}),
  });
  for (let offset = 0; ; offset += MEMORY_PAGE) {
    const items = await store.search([], { limit: MEMORY_PAGE, offset });
    for (const { namespace, key, value } of items) {
      const name = [...namespace, key].join("/");
      const parts: StoredPart[] = [
        { place: "memory", field: "", value },
        { place: "memory", field: "name", value: name },
      ];
      yield { ...BLANK, tenant, name, kind: "memory", parts };
    }
    if (items.length < MEMORY_PAGE) return;
  }
}

async function* readBatch(state: State, key: string, match: RegExpExecArray): AsyncGenerator<StoredRecord> {
  const tenant = (await state.redis.hget(key, "tenant")) ?? "";
  const batch = await state.batches.get(decodeId(match[1] ?? ""), tenant).catch(() => null);
  if (!batch) return;
  const parts: StoredPart[] = [{ place: "metadata", field: "metadata", value: batch.metadata }];
  yield { ...BLANK, tenant, name: batch.batchId, agent: batch.agent, kind: "batch", parts };
}

async function* readDeadLetters(
  state: State,
  _: string,
  match: RegExpExecArray,
): AsyncGenerator<StoredRecord> {
  const tenant = decodeId(match[1] ?? "");
  for (const { id, body, reason } of await state.deadLetters.list(tenant, Number.MAX_SAFE_INTEGER)) {
    const parts: StoredPart[] = [
      { place: "input", field: "body", value: body },
      { place: "error", field: "reason", value: reason.message },
    ];
    yield { ...BLANK, tenant, name: id, kind: "dead_letter", parts };
  }
}

/** A job that waits: a message that no worker has taken, a notice that its service has not read, a webhook. */
async function* readJob({ redis, codec }: State, key: string, name: string): AsyncGenerator<StoredRecord> {
  if ((await redis.type(key)) !== "hash") return;
  const [data, reason] = await redis.hmget(key, "data", "failedReason");
  if (!data) return;
  const parts: StoredPart[] = [
    { place: "input", field: "data", value: withoutAddress(data, codec) },
    { place: "error", field: "failedReason", value: reason },
  ];
  yield { ...BLANK, name, kind: "queue", parts };
}

/** A job's data, without the address of a webhook: a rule for URLs does not cover where its user wants notices. */
function withoutAddress(data: string, codec: State["codec"]): unknown {
  try {
    const { url: _, notice, ...rest } = JSON.parse(data) as { url?: unknown; notice?: unknown };
    return { ...rest, notice: typeof notice === "string" ? openJson(notice, codec) : notice };
  } catch {
    return data;
  }
}

function refIn(match: RegExpExecArray): { tenant: string; threadId: string; runId: string } {
  const [, tenant = "", threadId = "", runId = ""] = match;
  return { tenant: decodeId(tenant), threadId: decodeId(threadId), runId: decodeId(runId) };
}
