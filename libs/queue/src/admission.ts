import { createHash } from "node:crypto";
import {
  type AcceptedRequest,
  DroverError,
  derivedUuid,
  type NoticeDefaults,
  newRunId,
  newThreadId,
  parseOrThrow,
  type Redactor,
  type RunRequest,
  runRequestSchema,
} from "@drover/contracts";
import { type Admitted, encodePayload, idempotencyConflict, type RunRef, type State } from "@drover/state";
import type { KnownAgents, KnowsAgents } from "./known-agents.js";
import { announce } from "./publisher.js";
import { redactedRequest } from "./redacted-request.js";
import type { RunQueue } from "./run-queue.js";

export interface AdmissionOptions {
  /** Bytes of JSON that input and context may have together. */
  maxPayloadBytes: number;
  /** What to take out of a request before anything of it is written. */
  redactorOf: (agent: string) => Redactor;
  /** What workers announced. */
  knownAgents: KnowsAgents;
}

interface Prepared {
  run: RunRef;
  request: AcceptedRequest;
  payload: Buffer | string;
  hash: string;
}

export interface Accepted {
  run: RunRef;
  /** The run that the new one waits behind, if its thread is busy. */
  behind: string | null;
  /** True where the idempotency key had given this run before. */
  existed: boolean;
}

/** How many runs travel in one pipeline. */
const CHUNK = 500;
/** How many pipelines may be under way. */
const MOST_CHUNKS = 4;

/**
 * Accepts runs: validated and redacted first, all of them, so that a bad one among many changes nothing. When
 * this resolves, each run is in its thread's lane and will reach a final state.
 */
export async function admit(
  state: State,
  queue: RunQueue,
  requests: readonly RunRequest[],
  options: AdmissionOptions,
): Promise<Accepted[]> {
  const [known, ofBatches] = await Promise.all([
    options.knownAgents(requests.map(({ agent }) => agent)),
    noticeDefaultsOf(state, requests),
  ]);
  const prepared = requests.map((request, i) => {
    const made = prepare(request, requests.length > 1 ? i : null, known.names, state, options);
    return withNoticeDefaults(made, ofBatches, known);
  });
  const chunks: Prepared[][] = [];
  for (let i = 0; i < prepared.length; i += CHUNK) chunks.push(prepared.slice(i, i + CHUNK));
  // Redis works on some chunks while the next ones are encoded, where their order is certain.
  const atOnce = leaveInOneFlight(state, prepared) ? MOST_CHUNKS : 1;
  const flights: Promise<Accepted[]>[] = [];
  const announced: Promise<void>[] = [];
  for (const [i, chunk] of chunks.entries()) {
    await flights[i - atOnce];
    const flight = admitMarked(state, chunk);
    flights.push(heard(flight.then(({ admitted }) => acceptedOf(chunk, admitted))));
    announced.push(
      heard(flight.then(({ mark, admitted }) => announceMarked(state, queue, mark, chunk, admitted))),
    );
  }
  const [accepted] = await Promise.all([Promise.all(flights), Promise.all(announced)]);
  return accepted.flat();
}

/** The first failure is thrown; what fails beside it is no unhandled rejection. */
function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

function acceptedOf(chunk: readonly Prepared[], admitted: readonly Admitted[]): Accepted[] {
  return admitted.map(({ what, behind }, i) => ({
    run: (chunk[i] as Prepared).run,
    behind,
    existed: what === "exists",
  }));
}

async function announceMarked(
  state: State,
  queue: RunQueue,
  mark: string,
  chunk: readonly Prepared[],
  admitted: readonly Admitted[],
): Promise<void> {
  await announce(
    state,
    queue,
    admitted.map(({ transition }) => transition),
  );
  await state.marks.unmark(
    mark,
    chunk.map((p) => p.run),
  );
}

/** One connection keeps its order; the nodes of a Cluster have no common one, and a key is bound before its run. */
function leaveInOneFlight(state: State, runs: readonly Prepared[]): boolean {
  return !state.redis.isCluster && runs.every((p) => p.request.idempotencyKey === undefined);
}

/**
 * Marks the threads and binds the idempotency keys before anything is written for them, in one flight with the
 * runs where their order is certain.
 */
async function admitMarked(
  state: State,
  chunk: readonly Prepared[],
): Promise<{ mark: string; admitted: Admitted[] }> {
  const marking = state.marks.mark(chunk.map((p) => p.run));
  if (!leaveInOneFlight(state, chunk)) await Promise.all([marking, ...chunk.map((p) => bindKey(state, p))]);
  const [mark, ...admitted] = await Promise.all([
    marking,
    ...chunk.map((p) => state.runs.admit(p.run, p.request, p.payload, p.hash)),
  ]);
  return { mark, admitted };
}

async function bindKey(state: State, { run, request, hash }: Prepared): Promise<void> {
  if (request.idempotencyKey === undefined) return;
  const bound = `${run.threadId}\n${hash}`;
  if ((await state.indexes.reserve(run.tenant, request.idempotencyKey, bound)) !== bound)
    throw idempotencyConflict();
}

function prepare(
  raw: RunRequest,
  index: number | null,
  known: readonly string[],
  { codec }: State,
  options: AdmissionOptions,
): Prepared {
  const what = index === null ? "The run" : `Run ${index + 1}`;
  const parsed = parseOrThrow(runRequestSchema, raw, what);
  if (known.length > 0 && !known.includes(parsed.agent)) {
    throw new DroverError(
      "UNKNOWN_AGENT",
      `There is no agent '${parsed.agent}'. Known are: ${[...known].sort().join(", ")}.`,
    );
  }
  if (parsed.concurrencyLimit !== undefined && parsed.concurrencyKey === undefined) {
    throw new DroverError(
      "INVALID_INPUT",
      `${what} has a concurrencyLimit and no concurrencyKey that it could hold for; name one.`,
    );
  }
  const request = redactedRequest(parsed, options.redactorOf(parsed.agent));
  const payload = encodePayload(
    { input: request.input, context: request.context },
    { bytes: options.maxPayloadBytes, what: "The input" },
    codec,
  );
  const { tenant, idempotencyKey: key } = request;
  const run: RunRef = {
    tenant,
    threadId: request.threadId ?? (key === undefined ? newThreadId() : derivedUuid("thread", tenant, key)),
    runId: key === undefined ? newRunId() : derivedUuid("run", tenant, key),
  };
  return { run, request, payload, hash: key === undefined ? run.runId : hashOf(request) };
}

/** Whom the batches of these requests name, by batch. */
async function noticeDefaultsOf(
  state: State,
  requests: readonly RunRequest[],
): Promise<ReadonlyMap<string, NoticeDefaults>> {
  const ids = new Set(
    requests.flatMap(({ batchId }) => (typeof batchId === "string" && batchId !== "" ? [batchId] : [])),
  );
  const found = await Promise.all(
    [...ids].map(async (id) => [id, await state.batches.notifyOf(id)] as const),
  );
  return new Map(found.flatMap(([id, notify]) => (notify ? [[id, notify]] : [])));
}

/** A run that names nobody tells whom its batch names, else whom its agent names. */
function withNoticeDefaults(
  prepared: Prepared,
  ofBatches: ReadonlyMap<string, NoticeDefaults>,
  { terms }: KnownAgents,
): Prepared {
  const { request } = prepared;
  if (request.replyTo !== undefined || request.webhook !== undefined) return prepared;
  const told = ofBatches.get(request.batchId ?? "") ?? terms[request.agent]?.notify;
  return told ? { ...prepared, request: { ...request, ...told } } : prepared;
}

function hashOf(request: AcceptedRequest): string {
  return createHash("sha256").update(canonicalJson(request)).digest("hex").slice(0, 32);
}

/** JSON with sorted keys: the same request in another order is the same request. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
