import { pack } from "../encryption/codec.js";
import { LogReader, type Recorded } from "./log.js";
import { writesRow } from "./pending-writes.js";
import { Retemplater } from "./retemplate.js";
import { writeRow } from "./row.js";
import { type CheckpointState, lowestOf } from "./state.js";
import { type ThreadImage, writeImage } from "./thread-image.js";
import { namespacesOf, readOlderBodies } from "./thread-life.js";
import type { ThreadQueue } from "./thread-queue.js";
import { loadCheckpoint } from "./thread-reader.js";
import { type Rendered, ThreadView } from "./thread-view.js";
import { withHeader } from "./thread-write.js";

const ATTEMPTS = 20;

/**
 * Keeps the newest checkpoint of each namespace, with its writes, and what only older ones needed goes. A namespace
 * with delta channels keeps all: their values are put together from the writes of older checkpoints.
 */
export async function pruneThread(queue: ThreadQueue): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await queue.settled();
    const pruned = await prunedImage(queue);
    if (
      pruned === undefined ||
      (await writeImage(queue.context, queue.threadId, pruned.image, pruned.token))
    ) {
      queue.forget();
      return;
    }
  }
  throw new Error(`Others write to thread '${queue.threadId}' all the time; prune it when no run is active.`);
}

async function prunedImage({
  context,
  threadId,
}: ThreadQueue): Promise<{ image: ThreadImage; token: string } | undefined> {
  const names = await namespacesOf(context, threadId);
  const target = new ThreadView("", "");
  const bodies: string[] = [];
  let view: ThreadView | undefined;
  let token: string | undefined;
  const namespaces: ThreadImage["namespaces"] = [];
  for (const name of names) {
    const loaded = await loadCheckpoint(context, threadId, name, undefined, view);
    view = loaded.view;
    token ??= view.token;
    if (loaded.state === undefined) continue;
    const log: ThreadImage["namespaces"][number]["log"] = [];
    const copy = new NamespaceCopy(new Retemplater(view), target, bodies);
    for (const one of await kept(
      new LogReader(context, threadId, name, view.namespace(name).length ?? 0),
      view,
    )) {
      await readOlderBodies(context, threadId, view, Math.min(one.lowest, lowestOf(one.state)));
      for (const { key, header, json } of copy.add(one))
        log.push(key, withHeader(header, pack(json, context.codec)));
    }
    namespaces.push({ name, head: String(copy.head), log });
  }
  if (token === undefined) return undefined;
  const packed = bodies.map((text) => pack(text, context.codec));
  return { token, image: { bodies: packed, refs: target.refs.bytes(0), hasEarlyWrites: false, namespaces } };
}

/** The checkpoints to keep, oldest first. */
async function kept(reader: LogReader, view: ThreadView): Promise<Recorded[]> {
  const { hasEarlyWrites } = view.namespace(reader.namespace);
  const all: Recorded[] = [];
  for await (const one of reader.newestFirst(hasEarlyWrites)) {
    all.push(one);
    if (all.length === 1 && !one.state.metadata.has("counters_since_delta_snapshot")) break;
  }
  return all.reverse();
}

/** Writes a namespace's checkpoints anew, into another view. */
class NamespaceCopy {
  #length = 0;
  #last: CheckpointState | undefined;

  constructor(
    readonly source: Retemplater,
    readonly target: ThreadView,
    readonly fresh: string[],
  ) {}

  get head(): number {
    return this.#last?.position ?? 0;
  }

  add({ state, writes }: Recorded): { key: string; header: string; json: string }[] {
    const copy: CheckpointState = {
      ...state,
      position: this.#length,
      values: this.#copyOf(state.values),
      metadata: this.#copyOf(state.metadata),
    };
    const records = [{ key: state.id, ...writeRow(copy, this.#last) }];
    this.#last = copy;
    for (const json of writes) records.push({ key: `@${copy.position}`, ...this.#writes(json) });
    this.#length += records.length;
    return records;
  }

  #copyOf(texts: ReadonlyMap<string, Rendered>): Map<string, Rendered> {
    const render = (text: string) => this.target.render(this.source.template(text), this.fresh);
    return new Map([...texts].map(([key, { text }]) => [key, render(text)]));
  }

  #writes(json: string): { header: string; json: string } {
    const [taskId, taskPath, ...entries] = JSON.parse(json) as [
      string,
      string,
      ...[number, string, unknown][],
    ];
    const writes = entries.map(([index, channel, value]) => ({
      index,
      channel,
      value: this.source.template(JSON.stringify(value)),
    }));
    return writesRow({ taskId, taskPath, writes }, (value) => this.target.render(value, this.fresh));
  }
}
