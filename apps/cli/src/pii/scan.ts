import type { Finder } from "@drover/redaction";
import type { State } from "@drover/state";
import type { CurrentRules } from "./rules.js";
import { type StoredRecord, storedRecords } from "./stored-records.js";

/** One place in which something stands that a rule would cover. Its texts are in no field. */
export interface PlaceFound {
  kind: StoredRecord["kind"];
  tenant: string | null;
  threadId: string | null;
  runId: string | null;
  name: string | null;
  field: string;
  type: string;
  count: number;
}

export interface ScanProgress {
  keys: number;
  records: number;
}

/** Looks through everything that is stored, record by record. */
export async function* scan(
  state: State,
  rules: CurrentRules,
  onProgress: (progress: ScanProgress) => void,
): AsyncGenerator<PlaceFound> {
  const { createFinder } = await import("@drover/redaction");
  const finders = new Map<string | null, Finder>();
  const finderOf = (agent: string | null): Finder => {
    const known = finders.get(agent) ?? createFinder(rules.of(agent));
    finders.set(agent, known);
    return known;
  };
  const everything = finderOf(null);
  const told = new Set<string>();
  let keys = 0;
  let records = 0;
  const onKeys = (count: number) => {
    keys = count;
    onProgress({ keys, records });
  };
  for await (const record of storedRecords(state, onKeys)) {
    records += 1;
    onProgress({ keys, records });
    for (const place of placesIn(record, finderOf(record.agent), everything)) {
      if (isNews(place, told)) yield place;
    }
  }
}

function* placesIn(record: StoredRecord, finder: Finder, everything: Finder): Generator<PlaceFound> {
  const shown = (text: string | null) => (text === null ? null : everything.shown(text));
  const { kind, tenant, runId } = record;
  for (const { place, field, value } of record.parts) {
    for (const { path, type, count } of finder.in(value, place)) {
      const joint = field === "" || path === "" || path.startsWith("[") ? "" : ".";
      yield {
        kind,
        tenant,
        threadId: shown(record.threadId),
        runId,
        name: shown(record.name),
        field: everything.shown(`${field}${joint}${path}`),
        type,
        count,
      };
    }
  }
}

/** A thread's checkpoints hold its messages again and again: each place is told once. */
function isNews({ kind, tenant, threadId, field, type }: PlaceFound, told: Set<string>): boolean {
  if (kind !== "checkpoint") return true;
  const place = JSON.stringify([tenant, threadId, field, type]);
  return !told.has(place) && Boolean(told.add(place));
}
