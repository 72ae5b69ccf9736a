import type { ChannelVersions } from "@langchain/langgraph-checkpoint";
import type { Rendered } from "./thread-view.js";

export type Version = string | number;

/** A checkpoint as a whole; its values are texts that refer to bodies. */
export interface CheckpointState {
  /** Its place in the log of its namespace. */
  position: number;
  id: string;
  parent: string | undefined;
  ts: string;
  v: number;
  versions: ChannelVersions;
  seen: Record<string, ChannelVersions>;
  /** By channel; a channel that has a version and no value is empty. */
  values: ReadonlyMap<string, Rendered>;
  metadata: ReadonlyMap<string, Rendered>;
  /** Records from the last one that stands alone to this one. */
  depth: number;
}

/** The lowest body that a state needs; Infinity if none. */
export function lowestOf(state: CheckpointState): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const { lowest: one } of state.values.values()) lowest = Math.min(lowest, one);
  for (const { lowest: one } of state.metadata.values()) lowest = Math.min(lowest, one);
  return lowest;
}

/** Whether a difference to `base` can say what `state` is: differences add and change, they remove nothing. */
export function extendsState(state: CheckpointState, base: CheckpointState): boolean {
  const covers = (now: object, before: object) => Object.keys(before).every((key) => Object.hasOwn(now, key));
  return (
    covers(state.versions, base.versions) &&
    covers(state.seen, base.seen) &&
    Object.entries(base.seen).every(([node, seen]) => covers(state.seen[node] ?? {}, seen)) &&
    [...base.metadata.keys()].every((key) => state.metadata.has(key))
  );
}
