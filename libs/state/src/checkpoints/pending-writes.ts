import {
  type CheckpointPendingWrite,
  compareWritesSortKeys,
  type PendingWrite,
  WRITES_IDX_MAP,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";
import type { Template } from "./body.js";
import type { Rendered } from "./thread-view.js";

/**
 * The writes of one task as a record of the log: `W<lowest>;` and JSON `[task id, task path, [index, channel,
 * value]…]`. Records are only appended; which write counts is found out when they are read.
 */
export interface TaskWrites {
  taskId: string;
  taskPath: string;
  writes: { index: number; channel: string; value: Template }[];
}

/** The index of a write: fixed for special channels, so that they overwrite, else its place in the call. */
export function writeIndex(channel: string, place: number): number {
  return (Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel] : undefined) || place;
}

export function taskWrites(
  writes: PendingWrite[],
  taskId: string,
  taskPath: string,
  encode: (channel: string, value: unknown) => Template,
): TaskWrites {
  return {
    taskId,
    taskPath,
    writes: writes.map(([channel, value], place) => ({
      index: writeIndex(channel, place),
      channel,
      value: encode(channel, value),
    })),
  };
}

export function writesRow(
  task: TaskWrites,
  render: (value: Template) => Rendered,
): { header: string; json: string } {
  let lowest = Number.POSITIVE_INFINITY;
  const entries = task.writes.map(({ index, channel, value }) => {
    const rendered = render(value);
    lowest = Math.min(lowest, rendered.lowest);
    return `[${index},${JSON.stringify(channel)},${rendered.text}]`;
  });
  const head = `${JSON.stringify(task.taskId)},${JSON.stringify(task.taskPath)}`;
  return {
    header: `W${Number.isFinite(lowest) ? lowest : ""};`,
    json: `[${[head, ...entries].join()}]`,
  };
}

export interface StoredWrite {
  taskId: string;
  taskPath: string;
  index: number;
  channel: string;
  /** The value's JSON, as stored. */
  text: string;
}

/**
 * The writes that count, in LangGraph's order: of ordinary writes with the same task and index the first one, of
 * special ones the last.
 */
export function settledWrites(records: readonly string[]): StoredWrite[] {
  const settled = new Map<string, StoredWrite>();
  for (const record of records) {
    const [taskId, taskPath, ...entries] = JSON.parse(record) as [
      string,
      string,
      ...[number, string, unknown][],
    ];
    const present = new Set(settled.keys());
    for (const [index, channel, value] of entries) {
      const key = `${index},${taskId}`;
      if (index >= 0 && present.has(key)) continue;
      settled.set(key, { taskId, taskPath, index, channel, text: JSON.stringify(value) });
    }
  }
  const key = (write: StoredWrite) => writesSortKey(write.taskPath, write.taskId, write.index);
  return [...settled.values()].sort((a, b) => compareWritesSortKeys(key(a), key(b)));
}

export type DecodeText = (text: string) => Promise<unknown>;

export async function pendingWritesOf(
  records: readonly string[],
  decode: DecodeText,
): Promise<CheckpointPendingWrite[]> {
  const pending: CheckpointPendingWrite[] = [];
  for (const write of settledWrites(records)) {
    pending.push([write.taskId, write.channel, await decode(write.text)]);
  }
  return pending;
}
