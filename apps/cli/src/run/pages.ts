import type { Run, RunStatus } from "@drover/contracts";
import type { Client } from "@drover/queue";

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
