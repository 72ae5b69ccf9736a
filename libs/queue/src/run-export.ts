import { type AcceptedRequest, type Approval, isFinal, type Run } from "@drover/contracts";
import { encodeId, type State } from "@drover/state";

const PAGE = 200;

/** All that is kept of a run that ended. */
export interface ExportedRun {
  run: Run;
  input: AcceptedRequest["input"] | null;
  context: AcceptedRequest["context"] | null;
  /** With their answers. */
  approvals: Approval[];
}

/** All runs of a tenant that are kept, oldest first, without their outputs. */
export async function* runsOldestFirst(
  { redis, keys, indexes, reader }: State,
  tenant: string,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<Run> {
  const name = keys.index(`runs:${encodeId(tenant)}`);
  let from = Number.NEGATIVE_INFINITY;
  let skip = 0;
  for (;;) {
    const range = [bound(from), bound(before, "("), "BYSCORE", "LIMIT", skip, PAGE, "WITHSCORES"] as const;
    const flat = (await redis.call("ZRANGE", name, ...range)) as string[];
    const ids = flat.filter((_, i) => i % 2 === 0);
    const runs = await Promise.all(
      ids.map(async (id) => {
        const ref = await indexes.locate(id, tenant).catch(() => null);
        return ref ? reader.run(ref, false) : null;
      }),
    );
    for (const run of runs) if (run) yield run;
    if (ids.length < PAGE) return;
    // Runs that were accepted in one moment: those of it that were read are skipped by their number.
    const last = Number(flat.at(-1));
    const ofLast = flat.filter((score, i) => i % 2 === 1 && Number(score) === last).length;
    skip = last === from ? skip + ids.length : ofLast;
    from = last;
  }
}

/** Oldest first. A run that ends or is forgotten meanwhile may be left out. */
export async function* exportRuns(state: State, tenant: string, at: number): AsyncGenerator<ExportedRun> {
  for await (const { runId, threadId, status, finishedAt } of runsOldestFirst(state, tenant, at)) {
    if (!isFinal(status) || finishedAt === null || finishedAt >= at) continue;
    const ref = { tenant, threadId, runId };
    const [run, payload, approvals] = await Promise.all([
      state.reader.run(ref),
      state.reader.input(ref),
      state.reader.approvals(ref),
    ]);
    if (run) yield { run, input: payload?.input ?? null, context: payload?.context ?? null, approvals };
  }
}

const bound = (score: number, open = ""): string =>
  Number.isFinite(score) ? `${open}${score}` : score > 0 ? "+inf" : "-inf";
