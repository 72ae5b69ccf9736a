/**
 * The right to write to a thread. Every write of a run carries it, and Redis refuses the write, in the same
 * script, unless the thread's record holds exactly this epoch and this worker.
 * An epoch is max(last epoch + 1, Redis's time in milliseconds): it never goes back, even when Redis forgot.
 */
export interface Lease {
  tenant: string;
  threadId: string;
  runId: string;
  /** The activation's number within the run, from 1. */
  seq: number;
  epoch: number;
  /** The worker process's id, unique for each start of a process. */
  worker: string;
}
