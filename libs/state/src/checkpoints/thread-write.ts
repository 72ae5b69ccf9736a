import type { ChannelVersions } from "@langchain/langgraph-checkpoint";
import { pack } from "../encryption/codec.js";
import type { Template } from "./body.js";
import type { CheckpointContext } from "./context.js";
import { readStates } from "./log.js";
import { type TaskWrites, writesRow } from "./pending-writes.js";
import { writeRow } from "./row.js";
import type { CheckpointState } from "./state.js";
import type { NamespaceView, Rendered, ThreadView } from "./thread-view.js";

/** A checkpoint or a task's writes as handed over: independent of the caller's objects and of what is stored. */
export type ThreadWrite = CheckpointWrite | PendingTaskWrites;

export interface CheckpointWrite {
  kind: "checkpoint";
  namespace: string;
  id: string;
  parent: string | undefined;
  ts: string;
  v: number;
  versions: ChannelVersions;
  seen: Record<string, ChannelVersions>;
  /** The channels whose value is new; undefined where such a channel is empty. */
  values: ReadonlyMap<string, Template | undefined>;
  /** The values of the other channels, which may have been changed in place. */
  others: ReadonlyMap<string, Template>;
  metadata: ReadonlyMap<string, Template>;
}

export interface PendingTaskWrites extends TaskWrites {
  kind: "writes";
  namespace: string;
  checkpointId: string;
}

export interface Batch {
  namespaces: string[];
  bodies: (string | Buffer)[];
  refs: Buffer;
  records: { log: number; key: string; record: string | Buffer }[];
}

/** Turns writes into what append.lua takes; the view becomes what it will be when they are stored. */
export async function renderBatch(
  context: CheckpointContext,
  threadId: string,
  view: ThreadView,
  writes: readonly ThreadWrite[],
): Promise<Batch> {
  const namespaces = [...new Set(writes.map(({ namespace }) => namespace))];
  const refsBefore = view.refs.length;
  const fresh: string[] = [];
  const records: Batch["records"] = [];
  for (const write of writes) {
    const ns = view.namespace(write.namespace);
    const older =
      write.kind === "checkpoint" && needsOlderStates(write, ns)
        ? await readStates(context, threadId, write.namespace)
        : [];
    const { key, header, json } =
      write.kind === "checkpoint"
        ? renderCheckpoint(write, view, ns, older, fresh)
        : renderWrites(write, view, ns, fresh);
    ns.length = (ns.length ?? 0) + 1;
    const record = withHeader(header, pack(json, context.codec));
    records.push({ log: namespaces.indexOf(write.namespace) + 1, key, record });
  }
  const bodies = fresh.map((text) => pack(text, context.codec));
  return { namespaces, bodies, refs: view.refs.bytes(refsBefore), records };
}

function renderCheckpoint(
  write: CheckpointWrite,
  view: ThreadView,
  ns: NamespaceView,
  older: readonly CheckpointState[],
  fresh: string[],
): { key: string; header: string; json: string } {
  const base = ns.state(write.parent) ?? ns.head;
  const known = [...(base === undefined ? [] : [base]), ...ns.states(), ...older];
  const values = new Map<string, Rendered>();
  for (const [channel, version] of Object.entries(write.versions)) {
    if (write.values.has(channel)) {
      const template = write.values.get(channel);
      if (template !== undefined) values.set(channel, view.render(template, fresh));
      continue;
    }
    const value = known.find((state) => state.versions[channel] === version)?.values.get(channel);
    const other = write.others.get(channel);
    if (value !== undefined) values.set(channel, other === undefined ? value : view.render(other, fresh));
  }
  const metadata = new Map<string, Rendered>();
  for (const [key, template] of write.metadata) metadata.set(key, view.render(template, fresh));
  const { id, parent, ts, v, versions, seen } = write;
  const state: CheckpointState = {
    ...{ id, parent, ts, v, versions, seen, values, metadata },
    position: ns.length ?? 0,
    depth: 0,
  };
  const row = writeRow(state, base);
  ns.remember(state);
  ns.head = state;
  return { key: id, ...row };
}

function renderWrites(
  write: PendingTaskWrites,
  view: ThreadView,
  ns: NamespaceView,
  fresh: string[],
): { key: string; header: string; json: string } {
  const position = ns.state(write.checkpointId)?.position;
  const key = position === undefined ? `#${write.checkpointId}` : `@${position}`;
  return { key, ...writesRow(write, (template) => view.render(template, fresh)) };
}

/** Whether a channel has a version that no remembered state has. */
export function needsOlderStates(write: CheckpointWrite, ns: NamespaceView): boolean {
  if (ns.length === 0) return false;
  const known = ns.states();
  return !Object.entries(write.versions).every(
    ([channel, version]) =>
      write.values.has(channel) || known.some((state) => state.versions[channel] === version),
  );
}

export function withHeader(header: string, payload: string | Buffer): string | Buffer {
  return typeof payload === "string" ? header + payload : Buffer.concat([Buffer.from(header), payload]);
}
