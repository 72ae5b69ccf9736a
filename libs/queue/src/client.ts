import {
  type Answer,
  type Approval,
  type Batch,
  type BatchRequest,
  batchRequestSchema,
  DEFAULT_TENANT,
  DroverError,
  isFinal,
  NO_REDACTION,
  newBatchId,
  parseOrThrow,
  type Redactor,
  type Run,
  type RunRequest,
  type RunStatus,
} from "@drover/contracts";
import {
  asDroverError,
  assertSameKeys,
  connect,
  DEFAULT_MAX_PAYLOAD,
  encodeId,
  openState,
  parseEncryptionKeys,
  type Redis,
  type RunRef,
  type State,
  Subscriptions,
  type Wake,
} from "@drover/state";
import { ApprovalsClient } from "./approvals-client.js";
import type { ClientOptions } from "./client-options.js";
import { knownAgentsOf } from "./known-agents.js";
import { RecordsClient } from "./records-client.js";
import {
  cancelRun,
  forEachOfBatch,
  type PauseScope,
  pauseScope,
  resumeScope,
  retryRun,
} from "./run-control.js";
import { createHandle, type RunHandle } from "./run-handle.js";
import { RunQueue } from "./run-queue.js";
import { startRuns } from "./start-runs.js";
import { type WaitReason, waitReason } from "./waiting.js";
import { FailedWebhooks } from "./webhooks.js";

/** Enqueues runs and asks about them. Open one per process and close it at the end. */
export class Client {
  readonly state: State;
  readonly queue: RunQueue;
  readonly tenant: string;
  readonly approvals: ApprovalsClient;
  /** What is kept of runs that ended: taken out, or erased. */
  readonly records: RecordsClient;
  /** Webhooks of this tenant that could not be posted. */
  readonly failedWebhooks: FailedWebhooks;
  private readonly redactorOf: (agent: string) => Redactor;
  private readonly connections: Redis[] = [];
  private readonly subscriptions: Subscriptions;
  private isReady = false;
  private readonly knownAgents: ReturnType<typeof knownAgentsOf>;

  constructor(private readonly options: ClientOptions) {
    if (!options?.redisUrl) {
      throw new DroverError(
        "INVALID_CONFIG",
        "A client needs `redisUrl`, for example redis://127.0.0.1:6379.",
      );
    }
    const open = (role: "producer" | "subscriber"): Redis => {
      const redis = connect({
        url: options.redisUrl,
        role,
        ...(options.commandTimeoutMs ? { commandTimeoutMs: options.commandTimeoutMs } : {}),
        ...(options.onError ? { onError: options.onError } : {}),
      });
      this.connections.push(redis);
      return redis;
    };
    this.tenant = options.tenant ?? DEFAULT_TENANT;
    this.redactorOf = options.redactorOf ?? (() => NO_REDACTION);
    this.state = openState({
      redis: open("producer"),
      prefix: options.prefix,
      retention: options.retention,
      codec: parseEncryptionKeys(options.encryptionKeys),
    });
    this.knownAgents = knownAgentsOf(this.state);
    const queueRedis = open("producer");
    this.queue = new RunQueue(queueRedis, this.state.keys);
    this.failedWebhooks = new FailedWebhooks(queueRedis, this.state.keys, this.tenant);
    this.subscriptions = new Subscriptions(open("subscriber"));
    this.records = new RecordsClient(this.state, this.tenant);
    this.approvals = new ApprovalsClient(this.state, this.queue, this.tenant, options);
  }

  async enqueueRun(request: RunRequest): Promise<RunHandle> {
    const [handle] = await this.enqueueMany([request]);
    if (!handle) throw new DroverError("INTERNAL", "Nothing was enqueued.");
    return handle;
  }

  /** All or none is checked; accepted 500 at a time. 10,000 in one call are fine. */
  async enqueueMany(requests: readonly RunRequest[]): Promise<RunHandle[]> {
    await this.assertReady();
    const accepted = await startRuns(
      this.state,
      this.queue,
      requests.map((request) => this.ofTenant(request)),
      {
        maxPayloadBytes: this.options.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD,
        redactorOf: this.redactorOf,
        knownAgents: this.knownAgents,
      },
    ).catch(rethrow);
    return accepted.map(({ run, behind }) => this.handle(run, behind));
  }

  /** A handle of a run that was enqueued before. Throws UNKNOWN_RUN. */
  async run(runId: string): Promise<RunHandle> {
    return this.handle(await this.state.indexes.locate(runId, this.tenant), null);
  }

  /** What a pending run waits for; null for one that does not wait. */
  async waitsFor(run: Run): Promise<WaitReason | null> {
    return waitReason(this.state, async () => (await this.queue.counts()).waiting, run);
  }

  /** Newest first. */
  async listRuns(options: { status?: RunStatus; limit?: number; before?: number } = {}): Promise<Run[]> {
    const { limit = 20, ...rest } = options;
    const ids = await this.state.indexes.list({ tenant: this.tenant, limit, ...rest });
    return this.read(ids, false);
  }

  async cancelRun(runId: string, reason?: string): Promise<void> {
    await this.cancel(await this.state.indexes.locate(runId, this.tenant), reason);
  }

  /** Takes a run that ended out of every list. Its batch still counts it. Throws UNKNOWN_RUN, ILLEGAL_TRANSITION. */
  async forgetRun(runId: string): Promise<void> {
    const { status } = await (await this.run(runId)).status();
    if (!isFinal(status)) {
      throw new DroverError("ILLEGAL_TRANSITION", `Run ${runId} is ${status}; cancel it first.`);
    }
    await this.state.indexes.forget(runId);
  }

  async retryRun(runId: string): Promise<void> {
    await retryRun(this.state, this.queue, await this.state.indexes.locate(runId, this.tenant));
  }

  /** Creates a batch; its runs name it by `batchId`. Gives the batch as it is if it exists. */
  async openBatch(request: BatchRequest): Promise<Batch> {
    const parsed = parseOrThrow(batchRequestSchema, { tenant: this.tenant, ...request }, "The batch");
    const batchId = parsed.batchId ?? newBatchId();
    const metadata = this.redactorOf(parsed.agent).value(parsed.metadata, "metadata");
    await this.state.batches.open({ ...parsed, metadata, batchId }).catch(rethrow);
    return this.batch(batchId);
  }

  /** Says that the batch has all its runs: from then on it can be finished. */
  async sealBatch(batchId: string): Promise<void> {
    await this.batch(batchId);
    await this.state.batches.seal(batchId);
  }

  async batch(batchId: string): Promise<Batch> {
    return this.state.batches.get(batchId, this.tenant);
  }

  /** Newest first. */
  async listBatches(limit = 20): Promise<Batch[]> {
    const ids = await this.state.batches.list(this.tenant, limit);
    return Promise.all(ids.map((id) => this.batch(id)));
  }

  /** The batch's runs in the order in which they were accepted, a page at a time. */
  async batchRuns(batchId: string, offset: number, limit: number, withOutput = true): Promise<Run[]> {
    return this.read(await this.state.batches.runs(batchId, offset, limit), withOutput);
  }

  /** Runs that ended or were interrupted since the last call: start with 0, then give `next` again. */
  async batchEnded(batchId: string, offset: number, limit = 500): Promise<{ runs: Run[]; next: number }> {
    const ids = await this.state.batches.ended(batchId, offset, limit);
    return { runs: await this.read([...new Set(ids)], true), next: offset + ids.length };
  }

  /** Gives how many runs were ended or told to end. */
  async cancelBatch(batchId: string, reason = "The batch was cancelled."): Promise<number> {
    await this.batch(batchId);
    await this.state.batches.flag(batchId, "cancelled", true);
    return forEachOfBatch(this.state, batchId, this.tenant, ["pending", "running", "interrupted"], (run) =>
      this.cancel(run, reason),
    );
  }

  /** Tries the batch's runs that ended without success once more. Gives how many. */
  async retryBatch(batchId: string): Promise<number> {
    await this.batch(batchId);
    await this.state.batches.flag(batchId, "cancelled", false);
    return forEachOfBatch(this.state, batchId, this.tenant, ["error", "timeout", "cancelled"], (run) =>
      retryRun(this.state, this.queue, run),
    );
  }

  async pauseBatch(batchId: string): Promise<void> {
    await this.batch(batchId);
    await this.state.batches.flag(batchId, "paused", true);
    await pauseScope(this.state, `batch:${batchId}`);
  }

  async resumeBatch(batchId: string): Promise<number> {
    await this.batch(batchId);
    await this.state.batches.flag(batchId, "paused", false);
    return resumeScope(this.state, this.queue, `batch:${batchId}`);
  }

  async pause(scope: PauseScope): Promise<void> {
    await pauseScope(this.state, scope);
  }

  async resume(scope: PauseScope): Promise<number> {
    return resumeScope(this.state, this.queue, scope);
  }

  /** Approvals that wait, oldest first. */
  async listApprovals(limit = 20, offset = 0): Promise<Approval[]> {
    return this.approvals.list({ limit, offset });
  }

  async approval(approvalId: string): Promise<Approval> {
    return this.approvals.get(approvalId);
  }

  /** Answers an approval; its run goes on. A wrong answer changes nothing. */
  async decide(approvalId: string, answer: Answer): Promise<Approval> {
    return this.approvals.decide(approvalId, answer);
  }

  /** Wakes at each change of the batch from now on, and every few seconds. Close it at the end. */
  watchBatch(batchId: string): Promise<Wake> {
    return this.subscriptions.open(this.state.keys.index(`batch:${encodeId(batchId)}`));
  }

  /** Throws NO_REDIS, and INVALID_CONFIG where the workers encrypt with other keys than this client. Once is enough. */
  async assertReady(): Promise<void> {
    if (this.isReady) return;
    await assertSameKeys(this.state.redis, this.state.keys, this.state.codec).catch(rethrow);
    this.isReady = true;
  }

  async close(): Promise<void> {
    await Promise.all([this.queue.close(), this.failedWebhooks.close()]);
    for (const redis of this.connections) redis.disconnect();
  }

  private handle(ref: RunRef, behind: string | null): RunHandle {
    const cancel = (run: RunRef, reason?: string) => this.cancel(run, reason);
    return createHandle(this.state, this.subscriptions, ref, behind, cancel);
  }

  private cancel(run: RunRef, reason?: string): Promise<void> {
    return cancelRun(this.state, this.queue, run, { reason, redactorOf: this.redactorOf });
  }

  private async read(ids: readonly string[], withOutput: boolean): Promise<Run[]> {
    const runs = await Promise.all(
      ids.map(async (id) => {
        const ref = await this.state.indexes.locate(id, this.tenant).catch(() => null);
        return ref ? this.state.reader.run(ref, withOutput) : null;
      }),
    );
    return runs.filter((run): run is Run => run !== null);
  }

  private traced(request: RunRequest): RunRequest {
    const traceparent = request.traceparent ?? this.options.traceparent?.();
    return traceparent === undefined ? request : { ...request, traceparent };
  }

  private ofTenant(request: RunRequest): RunRequest {
    if (request.tenant === undefined || request.tenant === this.tenant)
      return { ...this.traced(request), tenant: this.tenant };
    throw new DroverError(
      "INVALID_INPUT",
      `The run names tenant '${request.tenant}' and this client is '${this.tenant}'; open a client for each tenant.`,
    );
  }
}

function rethrow(error: unknown): never {
  throw asDroverError(error);
}
