import { resolve } from "node:path";
import { type Batch, DroverError, parseOrThrow, runRequestSchema } from "@drover/contracts";
import { type DocumentRef, expandInputs, type SkippedInput } from "@drover/documents";
import type { Client } from "@drover/queue";
import { type BatchOrigin, enqueuedDocuments, findBatch } from "./identity.js";
import { ResultsFile } from "./results-file.js";

export interface BatchJob {
  agent: string;
  paths: string[];
  cwd: string;
  /** Path of the results' file as it was typed. */
  out?: string | undefined;
  /** At most this many documents now. */
  limit?: number | undefined;
  /** Go on with a batch: the one with this id, or true for the newest with the same file. */
  resume?: string | true | undefined;
  context: Record<string, unknown>;
}

export interface PreparedBatch {
  batch: Batch;
  /** Documents that are to be enqueued now. */
  todo: DocumentRef[];
  /** Documents of the batch once those are enqueued. */
  documents: number;
  /** Documents that `limit` leaves for later. */
  rest: number;
  /** What stood in the folders and is not read. */
  skipped: SkippedInput[];
  /** Documents that were done before. */
  before: number;
  file: ResultsFile | null;
}

/**
 * Checks everything, then creates the batch or finds the one to go on with. Throws INVALID_INPUT and its kind
 * before anything is created.
 */
export async function prepareBatch(client: Client, job: BatchJob): Promise<PreparedBatch> {
  const { agent, paths, cwd, context, resume } = job;
  parseOrThrow(runRequestSchema, { agent, input: "", context }, "The batch");
  const out = job.out === undefined ? null : resolve(cwd, job.out);
  const { documents: refs, skipped } = await expandInputs(paths, { cwd });
  if (refs.length === 0) {
    throw new DroverError("INVALID_INPUT", `There is no document in ${paths.join(", ")}.`);
  }
  const origin: BatchOrigin = { out, paths, cwd };
  const found =
    resume === undefined
      ? null
      : await findBatch(client, agent, resume === true ? undefined : resume, origin);
  if (found?.cancelled) {
    throw new DroverError(
      "ILLEGAL_TRANSITION",
      `Batch ${found.batchId} was cancelled. \`drover batches retry ${found.batchId}\` takes it up again; then resume it.`,
    );
  }
  const file = out === null ? null : await ResultsFile.open(out, found ? "continue" : "new");
  const batch = found ?? (await client.openBatch({ agent, metadata: { ...origin } }));
  const enqueued = found ? await enqueuedDocuments(client, found) : new Set<string>();
  const left = refs.filter(({ name }) => !enqueued.has(name) && !file?.isDone(name));
  const todo = left.slice(0, job.limit ?? left.length);
  const rest = left.length - todo.length;
  const before = refs.length - left.length;
  return { batch, todo, documents: batch.total + todo.length, rest, skipped, before, file };
}
