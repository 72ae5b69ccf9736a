import { createHash } from "node:crypto";
import { type Batch, DroverError } from "@drover/contracts";
import type { Client } from "@drover/queue";

const LONGEST_KEY = 256;
/** How far back a batch is looked for by its file. */
const BATCHES = 1000;
const PAGE = 500;

/** The same document of the same batch gives the same run, however often it is enqueued. */
export function idempotencyKeyOf(batchId: string, document: string): string {
  const key = `${batchId}:${document}`;
  if (key.length <= LONGEST_KEY) return key;
  return `${batchId}:${createHash("sha256").update(document).digest("hex")}`;
}

/** What a batch of this command keeps in its metadata, so that it can be found again. */
export interface BatchOrigin {
  /** Absolute path of the results' file; null without one. */
  out: string | null;
  /** As they were typed. */
  paths: string[];
  cwd: string;
}

/**
 * The batch to go on with: the one with this id, else the newest with the same results' file, or without a file the
 * newest of the same paths. Throws UNKNOWN_BATCH, and INVALID_INPUT where it belongs to another agent.
 */
export async function findBatch(
  client: Client,
  agent: string,
  batchId: string | undefined,
  origin: BatchOrigin,
): Promise<Batch> {
  const batch = batchId === undefined ? await newestLike(client, agent, origin) : await client.batch(batchId);
  if (!batch) {
    const what = origin.out === null ? "these paths" : `the file ${origin.out}`;
    throw new DroverError(
      "UNKNOWN_BATCH",
      `No batch of agent '${agent}' with ${what} is kept. Start it without --resume, or name its id: --resume <batch id>.`,
    );
  }
  if (batch.agent !== agent) {
    throw new DroverError(
      "INVALID_INPUT",
      `Batch ${batch.batchId} is of agent '${batch.agent}', not '${agent}'.`,
    );
  }
  return batch;
}

async function newestLike(client: Client, agent: string, origin: BatchOrigin): Promise<Batch | undefined> {
  const same = (metadata: Record<string, unknown>): boolean =>
    origin.out === null
      ? metadata.cwd === origin.cwd && JSON.stringify(metadata.paths) === JSON.stringify(origin.paths)
      : metadata.out === origin.out;
  const batches = await client.listBatches(BATCHES);
  return batches.find((batch) => batch.agent === agent && same(batch.metadata));
}

/** Names of the documents that have a run in the batch. */
export async function enqueuedDocuments(client: Client, { batchId, total }: Batch): Promise<Set<string>> {
  const names = new Set<string>();
  for (let offset = 0; offset < total; offset += PAGE) {
    for (const { document } of await client.batchRuns(batchId, offset, PAGE, false)) {
      if (document !== null) names.add(document);
    }
  }
  return names;
}
