import { DroverError } from "@drover/contracts";

const PLAIN = /^[A-Za-z0-9_.-]+$/;

/**
 * The names of everything in Redis. Keys of one thread share the hash tag `{tenant/thread}`, all indexes share
 * `{index}`, BullMQ has a tag of its own. Ids are encoded, so that no id can collide with another or leave its
 * prefix: only letters, digits, `_`, `.` and `-` stand for themselves. Run ids are made here and need no encoding.
 * Scripts make the names of a thread's keys themselves, from `base`: lua/prelude.lua.
 */
export function encodeId(id: string): string {
  if (PLAIN.test(id)) return id;
  if (!id.isWellFormed()) {
    throw new DroverError("INVALID_INPUT", "An id holds half of a surrogate pair; send well-formed Unicode.");
  }
  return encodeURIComponent(id).replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function decodeId(encoded: string): string {
  return decodeURIComponent(encoded);
}

export interface Keys {
  prefix: string;
  thread(tenant: string, threadId: string): ThreadKeys;
  index(name: string): string;
  /** BullMQ's `prefix` option. */
  bull: string;
}

export interface ThreadKeys {
  /** Everything of the thread begins with this, hash tag included. */
  base: string;
  /** hash: epoch, holder, current, accepted */
  thread: string;
  /** list of the ids of runs that wait behind the current one */
  lane: string;
  /** hash effect id → what became of it */
  effects: string;
  /** hash `runId:version` → transition that the indexes may not have seen yet */
  outbox: string;
  run(runId: string): string;
  events(runId: string): string;
}

export function createKeys(prefix = "drover"): Keys {
  return {
    prefix,
    bull: `{${prefix}-bull}`,
    index: (name) => `${prefix}:{index}:${name}`,
    thread(tenant, threadId) {
      const base = `${prefix}:{${encodeId(tenant)}/${encodeId(threadId)}}`;
      return {
        base,
        thread: `${base}:thread`,
        lane: `${base}:lane`,
        effects: `${base}:effects`,
        outbox: `${base}:outbox`,
        run: (runId) => `${base}:run:${runId}`,
        events: (runId) => `${base}:events:${runId}`,
      };
    },
  };
}
