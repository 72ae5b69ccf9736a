import type { ChannelVersions } from "@langchain/langgraph-checkpoint";
import { type CheckpointState, extendsState, lowestOf, type Version } from "./state.js";
import type { Rendered } from "./thread-view.js";

/**
 * A checkpoint's record in the log: `P<base>;<lowest>;` and JSON. With a base it is the difference to the
 * checkpoint at that position, without one it stands alone; a reader follows the bases. `lowest` is the lowest body
 * that the whole state needs.
 *
 *   p  parent's id, or 1 if the base is the parent      t  timestamp, in ms if that is all it says      v  format, if not 4
 *   c  [[version, channel…]…]                           s  [[node, channel | [channel, version]…]…]
 *   n  values by channel     l  lowest bodies by channel     e  channels that became empty
 *   m  metadata              k  lowest bodies by metadata key
 *
 * A channel alone in `s` has the version that it has in the base (or, without a base, in `c`).
 */
interface Row {
  p?: string | 1;
  t: string | number;
  v?: number;
  c?: [Version, ...string[]][];
  s?: [string, ...(string | [string, Version])[]][];
  e?: string[];
  l?: Record<string, number>;
  k?: Record<string, number>;
  n?: Record<string, unknown>;
  m?: Record<string, unknown>;
}

/** A reader follows at most this many bases. */
const LONGEST_CHAIN = 32;

export interface RowText {
  header: string;
  json: string;
}

/** Writes `state` as a difference to `base`, or alone where that is not possible; sets its depth. */
export function writeRow(state: CheckpointState, candidate: CheckpointState | undefined): RowText {
  const base =
    candidate !== undefined && candidate.depth + 1 < LONGEST_CHAIN && extendsState(state, candidate)
      ? candidate
      : undefined;
  state.depth = base === undefined ? 0 : base.depth + 1;
  const ms = Date.parse(state.ts);
  const row: Row = { t: isoOf(ms) === state.ts ? ms : state.ts };
  if (state.parent !== undefined) row.p = state.parent === base?.id ? 1 : state.parent;
  if (state.v !== 4) row.v = state.v;
  const versions = versionsRow(state.versions, base?.versions);
  if (versions.length > 0) row.c = versions;
  const seen = seenRow(state.seen, base, state.versions);
  if (seen.length > 0) row.s = seen;
  const values = differing(state.values, base?.values);
  const empty = [...(base?.values.keys() ?? [])].filter((channel) => !state.values.has(channel));
  if (empty.length > 0) row.e = empty;
  const metadata = differing(state.metadata, base?.metadata);
  addLowest(row, "l", values);
  addLowest(row, "k", metadata);
  let json = JSON.stringify(row).slice(0, -1);
  if (values.length > 0) json += `,"n":${objectText(values)}`;
  if (metadata.length > 0) json += `,"m":${objectText(metadata)}`;
  const lowest = lowestOf(state);
  return {
    header: `P${base?.position ?? ""};${Number.isFinite(lowest) ? lowest : ""};`,
    json: `${json}}`,
  };
}

/** Reads a record; `base` is the state that its header names. */
export function readRow(
  position: number,
  id: string,
  json: string,
  base: CheckpointState | undefined,
): CheckpointState {
  const row = JSON.parse(json) as Row;
  const versions: ChannelVersions = { ...base?.versions };
  for (const [version, ...channels] of row.c ?? [])
    for (const channel of channels) versions[channel] = version;
  const seen = { ...base?.seen };
  for (const [node, ...entries] of row.s ?? []) {
    const of: ChannelVersions = { ...(Object.hasOwn(seen, node) ? seen[node] : {}) };
    for (const entry of entries) {
      if (typeof entry === "string") of[entry] = (base?.versions ?? versions)[entry] as Version;
      else of[entry[0]] = entry[1];
    }
    seen[node] = of;
  }
  const values = new Map(base?.values);
  for (const channel of row.e ?? []) values.delete(channel);
  readTexts(values, row.n, row.l);
  const metadata = new Map(base?.metadata);
  readTexts(metadata, row.m, row.k);
  return {
    position,
    id,
    parent: row.p === 1 ? base?.id : row.p,
    ts: typeof row.t === "number" ? isoOf(row.t) : row.t,
    v: row.v ?? 4,
    versions,
    seen,
    values,
    metadata,
    depth: base === undefined ? 0 : base.depth + 1,
  };
}

function isoOf(ms: number): string {
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}

/** The position of the base that a record names. */
export function baseOf(record: string): number | undefined {
  const base = record.slice(1, record.indexOf(";"));
  return base === "" ? undefined : Number(base);
}

function versionsRow(versions: ChannelVersions, base: ChannelVersions | undefined): [Version, ...string[]][] {
  const rows = new Map<Version, [Version, ...string[]]>();
  for (const [channel, version] of Object.entries(versions)) {
    if (base !== undefined && base[channel] === version) continue;
    const row = rows.get(version);
    if (row === undefined) rows.set(version, [version, channel]);
    else row.push(channel);
  }
  return [...rows.values()];
}

function seenRow(
  seen: Record<string, ChannelVersions>,
  base: CheckpointState | undefined,
  own: ChannelVersions,
): [string, ...(string | [string, Version])[]][] {
  const implied = base?.versions ?? own;
  const rows: [string, ...(string | [string, Version])[]][] = [];
  for (const [node, channels] of Object.entries(seen)) {
    const before = base !== undefined && Object.hasOwn(base.seen, node) ? base.seen[node] : undefined;
    const changed = Object.entries(channels).filter(([channel, version]) => before?.[channel] !== version);
    if (before !== undefined && changed.length === 0) continue;
    rows.push([
      node,
      ...changed.map(([channel, version]): string | [string, Version] =>
        Object.hasOwn(implied, channel) && implied[channel] === version ? channel : [channel, version],
      ),
    ]);
  }
  return rows;
}

function differing(
  now: ReadonlyMap<string, Rendered>,
  before: ReadonlyMap<string, Rendered> | undefined,
): [string, Rendered][] {
  return [...now].filter(([key, { text }]) => before?.get(key)?.text !== text);
}

function addLowest(row: Row, field: "l" | "k", texts: [string, Rendered][]): void {
  const needing = texts.filter(([, { lowest }]) => Number.isFinite(lowest));
  if (needing.length > 0) row[field] = Object.fromEntries(needing.map(([key, { lowest }]) => [key, lowest]));
}

function objectText(texts: [string, Rendered][]): string {
  return `{${texts.map(([key, { text }]) => `${JSON.stringify(key)}:${text}`).join()}}`;
}

function readTexts(
  into: Map<string, Rendered>,
  values: Record<string, unknown> | undefined,
  lowest: Record<string, number> | undefined,
): void {
  for (const [key, value] of Object.entries(values ?? {})) {
    const low = lowest !== undefined && Object.hasOwn(lowest, key) ? lowest[key] : undefined;
    into.set(key, { text: JSON.stringify(value), lowest: low ?? Number.POSITIVE_INFINITY });
  }
}
