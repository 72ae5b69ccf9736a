import type { Redis } from "../connect.js";
import { unpack } from "../encryption/codec.js";
import { asDroverError } from "../redis-errors.js";
import { type CheckpointContext, checkpointKeys, LOAD } from "./context.js";
import { baseOf, readRow } from "./row.js";
import type { CheckpointState } from "./state.js";
import { registerThread } from "./thread-index.js";
import { ThreadView } from "./thread-view.js";

/** A first load gets the last bodies with LRANGE, which is four times faster than what a script returns. */
const WINDOW = 4096;

export interface Loaded {
  view: ThreadView;
  /** Undefined if there is no such checkpoint. */
  state: CheckpointState | undefined;
  /** JSON of the records of its writes, oldest first. */
  writes: string[];
}

type Reply = [
  token: Buffer,
  generation: Buffer,
  bodies: number,
  records: number,
  refs: Buffer,
  id: Buffer,
  rows: (Buffer | number)[],
  writes: Buffer[],
  olderFrom: number,
  older: Buffer[],
  hasEarlyWrites: number,
  isRefreshed: number,
];

/**
 * Reads a checkpoint (without an id: the head) in one round trip, and with it what `known` lacks. Returns a new view
 * if there is none, or if the thread was deleted since.
 */
export async function loadCheckpoint(
  context: CheckpointContext,
  threadId: string,
  namespace: string,
  id: string | undefined,
  known: ThreadView | undefined,
): Promise<Loaded> {
  const keys = checkpointKeys(context, threadId);
  const refsFrom = known?.refs.length ?? 0;
  const from = known?.count ?? -WINDOW;
  const args = [
    keys.head(namespace),
    id ?? "",
    refsFrom * 4,
    known?.from ?? "",
    WINDOW,
    context.retentionSeconds,
  ];
  const [reply, bodies] = await transaction(
    context.redis,
    [keys.meta, keys.bodies, keys.refs, keys.log(namespace)],
    args,
    from,
  );
  if (reply.length === 0) return emptyThread(known, namespace);
  const [token, generation, count, records, refs, foundId, rows, writes, olderFrom, older, early, refreshed] =
    reply as Reply;
  if (refreshed === 1) await registerThread(context, threadId);
  if (known !== undefined && known.generation !== generation.toString()) {
    return loadCheckpoint(context, threadId, namespace, id, undefined);
  }
  const decode = (bytes: Buffer) => unpack(bytes, context.codec);
  const view = known ?? new ThreadView(generation.toString(), "", Math.max(0, count - WINDOW));
  view.moveTo(token.toString());
  // Another load of the same thread may have been answered meanwhile and have added the beginning.
  const added = known === undefined ? 0 : view.count - from;
  view.addStored(view.count, bodies.slice(added).map(decode));
  if (older.length > 0) view.addStored(olderFrom, older.map(decode));
  for (let at = (view.refs.length - refsFrom) * 4; at < refs.length; at += 4)
    view.refs.append(refs.readUInt32BE(at));
  const states = readChain(rows, decode);
  const ns = view.namespace(namespace);
  if (ns.length !== records) ns.head = undefined;
  ns.length = records;
  ns.hasEarlyWrites = early === 1;
  for (const one of states) ns.remember(one);
  const state = foundId.length === 0 ? undefined : states.at(-1);
  if (id === undefined && state !== undefined) ns.head = state;
  return { view, state, writes: writes.map((record) => payloadOf(record, decode)) };
}

function emptyThread(known: ThreadView | undefined, namespace: string): Loaded {
  const view = known?.token === "" ? known : new ThreadView("", "");
  view.namespace(namespace).length = 0;
  return { view, state: undefined, writes: [] };
}

function readChain(rows: (Buffer | number)[], decode: (bytes: Buffer) => string): CheckpointState[] {
  const states: CheckpointState[] = [];
  for (let i = 0; i + 2 < rows.length; i += 3) {
    const record = rows[i + 2] as Buffer;
    states.push(readRow(rows[i] as number, String(rows[i + 1]), payloadOf(record, decode), states.at(-1)));
  }
  return states;
}

/** The JSON of a record, behind its header of two fields (`P`) or one (`W`). */
export function payloadOf(record: Buffer, decode: (bytes: Buffer) => string): string {
  let end = record.indexOf(59);
  if (record[0] === 80) end = record.indexOf(59, end + 1);
  return decode(record.subarray(end + 1));
}

export function headerBase(record: Buffer): number | undefined {
  return baseOf(record.toString("latin1", 0, Math.min(record.length, 32)));
}

async function transaction(
  redis: Redis,
  keys: string[],
  args: (string | number)[],
  bodiesFrom: number,
): Promise<[reply: unknown[], bodies: Buffer[]]> {
  const bodiesKey = keys[1] as string;
  for (const [command, source] of [
    ["EVALSHA", LOAD.sha],
    ["EVAL", LOAD.source],
  ] as const) {
    const results = await redis
      .multi()
      .callBuffer(command, source, keys.length, ...keys, ...args)
      .lrangeBuffer(bodiesKey, bodiesFrom, -1)
      .exec()
      .catch((error: unknown) => {
        throw asDroverError(error);
      });
    const [loaded, bodies] = results ?? [];
    const error = loaded?.[0] ?? bodies?.[0];
    if (error == null) return [loaded?.[1] as unknown[], bodies?.[1] as Buffer[]];
    if (!error.message.startsWith("NOSCRIPT")) throw asDroverError(error);
  }
  throw new TypeError("Redis does not know a script that it was just sent.");
}
