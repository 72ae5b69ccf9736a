import type { ErrorCode, RunRequest } from "@drover/contracts";
import { isDroverError } from "@drover/contracts";
import { type Document, type DocumentRef, readDocument } from "@drover/documents";
import type { Client } from "@drover/queue";
import { idempotencyKeyOf } from "./identity.js";
import type { Patiently } from "./patience.js";
import { type ResultLine, refusedLine } from "./result-line.js";
import type { Room } from "./room.js";

/** Documents that travel together, and bytes after which a chunk is full. */
const CHUNK = 250;
const CHUNK_BYTES = 8 * 1024 * 1024;
/** Documents that are read at once. */
const READERS = 8;

export interface ProduceOptions {
  client: Client;
  refs: Iterable<DocumentRef>;
  /** What all runs of the batch have in common. */
  request: Pick<RunRequest, "agent" | "context"> & { batchId: string };
  signal: AbortSignal;
  patiently: Patiently;
  room: Room;
  /** Documents that were not accepted, with the reason. */
  onRefused: (lines: ResultLine[]) => void;
}

/**
 * Enqueues documents, a chunk at a time: one is read only when its chunk is next, so that memory stays flat however
 * many there are. A document that can't be read or is not accepted fails alone.
 */
export async function produce(options: ProduceOptions): Promise<void> {
  const { refs, signal, room } = options;
  let chunk: RunRequest[] = [];
  let bytes = 0;
  const send = async (): Promise<void> => {
    if (chunk.length > 0) await enqueue(options, chunk);
    chunk = [];
    bytes = 0;
  };
  for (const group of groupsOf(refs, READERS)) {
    if (signal.aborted) return;
    for (const { request, size } of await readGroup(options, group)) {
      chunk.push(request);
      bytes += size;
    }
    if (chunk.length >= CHUNK || bytes >= CHUNK_BYTES) {
      await room.wait(signal);
      if (signal.aborted) return;
      await send();
    }
  }
  await send();
}

async function readGroup(
  { request, onRefused }: ProduceOptions,
  refs: readonly DocumentRef[],
): Promise<{ request: RunRequest; size: number }[]> {
  const refused: ResultLine[] = [];
  const read = await Promise.all(
    refs.map(async (ref) => {
      try {
        const document = await readDocument(ref);
        const size = "text" in document ? document.text.length : (document.blocks[0]?.data.length ?? 0);
        const idempotencyKey = idempotencyKeyOf(request.batchId, ref.name);
        return [
          { request: { ...request, input: inputOf(document), document: ref.name, idempotencyKey }, size },
        ];
      } catch (error) {
        if (!isDroverError(error)) throw error;
        refused.push(refusedLine(ref.name, error.toInfo()));
        return [];
      }
    }),
  );
  if (refused.length > 0) onRefused(refused);
  return read.flat();
}

/** Text is one message of a person; pictures and scanned pages are one, in content blocks. */
function inputOf(document: Document): RunRequest["input"] {
  if ("text" in document) return document.text;
  return { messages: [{ role: "user", content: document.blocks }] };
}

/** Reasons for which one document among others is not accepted. Anything else concerns the whole batch. */
const DOCUMENT_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "INVALID_INPUT",
  "INPUT_TOO_LARGE",
  "RESERVED_KEY",
  "PII_BLOCKED",
  "PII_DETECTOR_FAILED",
  "IDEMPOTENCY_CONFLICT",
]);

async function enqueue({ client, patiently, onRefused }: ProduceOptions, chunk: RunRequest[]): Promise<void> {
  try {
    await patiently(() => client.enqueueMany(chunk));
    return;
  } catch (error) {
    if (!isDroverError(error) || !DOCUMENT_CODES.has(error.code)) throw error;
  }
  // One of them is refused, and with it all: find out which.
  for (const request of chunk) {
    try {
      await patiently(() => client.enqueueRun(request));
    } catch (error) {
      if (!isDroverError(error) || !DOCUMENT_CODES.has(error.code)) throw error;
      onRefused([refusedLine(request.document ?? "", error.toInfo())]);
    }
  }
}

function* groupsOf<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let group: T[] = [];
  for (const item of items) {
    group.push(item);
    if (group.length === size) {
      yield group;
      group = [];
    }
  }
  if (group.length > 0) yield group;
}
