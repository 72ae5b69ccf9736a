import { type Batch, isFinal, type Run } from "@drover/contracts";
import type { Client } from "@drover/queue";
import type { Cli } from "../cli.js";
import { Progress } from "../output/progress.js";
import { Follower } from "./follow.js";
import { patience } from "./patience.js";
import type { PreparedBatch } from "./prepare.js";
import { produce } from "./produce.js";
import { lineOf, type ResultLine } from "./result-line.js";
import { Room } from "./room.js";
import { Tally } from "./tally.js";
import { readWaiting, type WaitingRun } from "./waiting.js";

export interface BatchReport {
  batch: Batch;
  tally: Tally;
  /** Runs that wait for a person, once nothing else is left. */
  waiting: WaitingRun[];
  ms: number;
  /** False where the command was interrupted. */
  isDone: boolean;
}

/**
 * Enqueues a batch's documents and follows them until nothing is left to run, or the command is interrupted. Results
 * go to the file as they come; a document that waits for a person gets its line at the end.
 * @param fleetSignal fires when the command's own workers are gone; its reason is thrown
 */
export async function runBatch(
  { out, interruption }: Cli,
  client: Client,
  { batch, todo, documents, rest, file }: PreparedBatch,
  request: { agent: string; context: Record<string, unknown> },
  fleetSignal?: AbortSignal,
): Promise<BatchReport> {
  const start = performance.now();
  const { batchId } = batch;
  const failure = new AbortController();
  const signal = AbortSignal.any([
    interruption.signal,
    failure.signal,
    ...(fleetSignal ? [fleetSignal] : []),
  ]);
  const patiently = patience(signal, (text) => out.note(text));
  const tally = new Tally();
  const room = new Room();
  const progress = new Progress(out);
  let newest = batch;
  let waiting: WaitingRun[] | null = [];

  const show = (): void => progress.update({ batch: newest, total: documents, refused: tally.refused });
  const record = (lines: ResultLine[]): void => {
    file?.write(lines);
    for (const line of lines) tally.note(line);
  };
  const follower = new Follower({
    client,
    batchId,
    signal,
    patiently,
    onRuns: (runs: Run[]) => {
      for (const run of runs) tally.noteRun(run);
      record(runs.filter((run) => isFinal(run.status)).map((run) => lineOf(run)));
    },
    onProgress: (seen) => {
      newest = seen;
      room.update(seen.counts.pending + seen.counts.running);
      show();
    },
  });
  const onRefused = (lines: ResultLine[]): void => {
    record(lines);
    show();
  };
  const producing = async (): Promise<void> => {
    await produce({
      client,
      refs: todo,
      request: { ...request, batchId },
      signal,
      patiently,
      room,
      onRefused,
    });
    if (signal.aborted) return;
    // A batch of which a part is left for later stays open.
    if (rest === 0) await patiently(() => client.sealBatch(batchId));
    follower.allAdded();
  };
  const following = async (): Promise<void> => {
    do {
      newest = await follower.untilIdle();
      waiting = signal.aborted ? [] : await patiently(() => readWaiting(client, tally.waiting));
    } while (waiting === null);
    record(
      waiting.map(({ run, approvals }) =>
        lineOf(
          run,
          approvals.map((a) => a.approvalId),
        ),
      ),
    );
  };
  const orStop = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      failure.abort();
      throw error;
    });

  try {
    await Promise.all([orStop(producing()), orStop(following())]);
    fleetSignal?.throwIfAborted();
  } finally {
    progress.stop();
    await file?.finish();
  }
  const isDone = !interruption.signal.aborted;
  return { batch: newest, tally, waiting: waiting ?? [], ms: performance.now() - start, isDone };
}
