import type { Run, RunStatus } from "@drover/contracts";
import type { Client } from "@drover/queue";
import { count } from "../output/format.js";

const PAGE = 500;

/**
 * All runs that are kept, newest first. Runs may share their moment of acceptance, by which pages are cut: a page
 * begins at the last moment of the one before, and a moment with more runs than a page makes the page larger.
 */
export async function* runsNewestFirst(client: Client, status?: RunStatus): AsyncGenerator<Run> {
  let size = PAGE;
  let before: number | undefined;
  let seen = new Set<string>();
  for (;;) {
    const page = await client.listRuns({
      limit: size,
      ...(status === undefined ? {} : { status }),
      ...(before === undefined ? {} : { before }),
    });
    const news = page.filter((run) => !seen.has(run.runId));
    yield* news;
    if (page.length < size) return;
    const last = page.at(-1)?.createdAt ?? 0;
    const next = last + 1;
    if (next === before) size *= 2;
    seen = new Set([
      ...(next === before ? seen : []),
      ...page.filter((r) => r.createdAt === last).map((r) => r.runId),
    ]);
    before = next;
  }
}

/** Runs that are looked at for how many more fit: a list is asked for while a fleet is in trouble. */
const MOST_COUNTED = 1000;

export interface FirstRuns {
  runs: Run[];
  /** How many more fit, in words; null where these are all. */
  more: string | null;
}

/** The first runs that fit, and how many more there are. */
export async function firstRuns(
  all: AsyncIterable<Run>,
  limit: number,
  fits: (run: Run) => boolean,
): Promise<FirstRuns> {
  const runs: Run[] = [];
  let more = 0;
  let counted = 0;
  for await (const run of all) {
    if (runs.length === limit) counted += 1;
    if (counted > MOST_COUNTED)
      return { runs, more: more > 0 ? `at least ${count(more)} more` : "perhaps older ones" };
    if (!fits(run)) continue;
    if (runs.length < limit) runs.push(run);
    else more += 1;
  }
  return { runs, more: more > 0 ? `${count(more)} more` : null };
}
