import { leaseLost } from "../refusals.js";
import { runScript, type ScriptArg } from "../scripts.js";
import { APPEND, type CheckpointContext, checkpointKeys, fence, newToken } from "./context.js";
import { registerThread } from "./thread-index.js";
import { type Loaded, loadCheckpoint } from "./thread-reader.js";
import { ThreadView } from "./thread-view.js";
import { type Batch, needsOlderStates, renderBatch, type ThreadWrite } from "./thread-write.js";

interface Waiting {
  write: ThreadWrite;
  resolve: () => void;
  reject: (error: unknown) => void;
  /** Its caller went on before it had landed; whoever comes after it is told if it fails. */
  isAhead: boolean;
}

/** Writes that were sent, and what became of them. */
interface Flight {
  writes: Waiting[];
  landed: Promise<"OK" | "STALE" | { error: unknown }>;
}

/** Flights that may be under way. */
const MOST_FLIGHTS = 4;
/** How often writes are rendered anew because somebody else wrote in between, before that is an error. */
const ATTEMPTS = 100;
/** The longest wait before the next attempt, in milliseconds; random, so that two writers do not keep in step. */
const LONGEST_WAIT = 50;

/**
 * The writes of one thread, in order. What is handed over in one turn of the event loop leaves together in one script
 * call. The next call need not wait for the reply: it is only good on top of the one before, by the token that each
 * sets and the next asks for, so nothing (the fallback for an unknown script least of all) can change the order.
 */
export class ThreadQueue {
  #waiting: Waiting[] = [];
  #flights: Flight[] = [];
  #running: Promise<void> | undefined;
  #arrived: () => void = () => undefined;
  #goAhead: (() => void) | undefined;
  /** A checkpoint that was not stored after its caller had gone ahead: nothing is put on top of it. */
  #lost: { id: string; error: unknown } | undefined;
  #view: ThreadView | undefined;
  #isRegistered = false;
  #attempts = 0;
  #readers = 0;

  constructor(
    readonly context: CheckpointContext,
    readonly threadId: string,
    isNew = false,
  ) {
    if (isNew) this.#view = ThreadView.ofNew();
  }

  get isIdle(): boolean {
    return this.#running === undefined && this.#readers === 0;
  }

  /** Waits for all writes so far. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** What is known of the thread is no longer true. */
  forget(): void {
    this.#view = undefined;
  }

  /** Reads a checkpoint, after all writes so far; later writes wait for it, since both change what is known. */
  async load(namespace: string, id: string | undefined): Promise<Loaded> {
    await this.settled();
    if (this.#view?.isEmpty(namespace)) return { view: this.#view, state: undefined, writes: [] };
    this.#readers += 1;
    try {
      const loaded = await loadCheckpoint(this.context, this.threadId, namespace, id, this.#view);
      this.#view = loaded.view;
      return loaded;
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0 && this.#waiting.length > 0) this.#running = this.#run();
    }
  }

  /**
   * Resolves when the write is stored. With `untilNext` it also does as soon as another write of the thread follows,
   * which then is only stored on top of this one, and fails with it.
   */
  add(write: ThreadWrite, { untilNext = false } = {}): Promise<void> {
    this.#goAhead?.();
    this.#goAhead = undefined;
    const on = write.kind === "checkpoint" ? write.parent : write.checkpointId;
    if (this.#lost !== undefined && on === this.#lost.id) return Promise.reject(this.#lost.error);
    return new Promise((resolve, reject) => {
      const waiting = { write, resolve, reject, isAhead: false };
      this.#waiting.push(waiting);
      if (untilNext) {
        this.#goAhead = () => {
          waiting.isAhead = true;
          resolve();
        };
      }
      if (this.#running === undefined && this.#readers === 0) this.#running = this.#run();
      else setImmediate(() => this.#arrived());
    });
  }

  async #run(): Promise<void> {
    await new Promise(setImmediate);
    for (;;) {
      if (this.#mayLaunch()) await this.#launch(this.#waiting.splice(0));
      else if (this.#flights.length > 0) await this.#landOrArrive();
      else break;
    }
    this.#running = undefined;
  }

  /** What must read Redis first waits until all flights have landed. */
  #mayLaunch(): boolean {
    if (this.#waiting.length === 0 || this.#flights.length >= MOST_FLIGHTS) return false;
    return this.#flights.length === 0 || !this.#waiting.some(({ write }) => this.#mustRead(write));
  }

  #mustRead(write: ThreadWrite): boolean {
    const namespace = this.#view?.namespace(write.namespace);
    return (
      namespace?.length === undefined || (write.kind === "checkpoint" && needsOlderStates(write, namespace))
    );
  }

  async #launch(writes: Waiting[]): Promise<void> {
    try {
      const batch = writes.map(({ write }) => write);
      const view = await this.#viewFor(batch);
      const rendered = await renderBatch(this.context, this.threadId, view, batch);
      const landed = this.#send(view, rendered).catch((error: unknown) => ({ error }));
      this.#flights.push({ writes, landed });
    } catch (error) {
      this.#view = undefined;
      this.#fail(writes, error);
    }
  }

  /**
   * What waits cannot be stored without a write whose caller has gone ahead.
   * @returns whether there was such a write
   */
  #fail(writes: readonly Waiting[], error: unknown): boolean {
    const ahead = writes.find(({ isAhead }) => isAhead);
    const isBroken = ahead !== undefined;
    if (ahead?.write.kind === "checkpoint") this.#lost = { id: ahead.write.id, error };
    for (const { reject } of [...writes, ...(isBroken ? this.#waiting.splice(0) : [])]) reject(error);
    return isBroken;
  }

  async #landOrArrive(): Promise<void> {
    const [first] = this.#flights;
    const arrival = new Promise<undefined>((resolve) => {
      this.#arrived = () => resolve(undefined);
    });
    const isFull = this.#flights.length >= MOST_FLIGHTS || this.#waiting.length > 0;
    const outcome = await (isFull ? first?.landed : Promise.race([first?.landed, arrival]));
    if (outcome === undefined) return;
    if (outcome !== "OK") return this.#recover();
    this.#flights.shift();
    this.#attempts = 0;
    for (const { resolve } of first?.writes ?? []) resolve();
  }

  /**
   * The first flight failed. Where a later one landed, so did all before it, whose replies were lost on the way; those
   * behind a failed one were refused for their age only, and are written anew.
   */
  async #recover(): Promise<void> {
    this.#view = undefined;
    this.#attempts += 1;
    const flights = this.#flights.splice(0);
    const outcomes = await Promise.all(flights.map(({ landed }) => landed));
    const landed = outcomes.lastIndexOf("OK") + 1;
    for (const { writes } of flights.splice(0, landed)) for (const { resolve } of writes) resolve();
    const again: Waiting[] = [];
    let lost: unknown;
    for (const [i, outcome] of outcomes.slice(landed).entries()) {
      const writes = flights[i]?.writes ?? [];
      if (outcome === "STALE" && this.#attempts < ATTEMPTS && lost === undefined) again.push(...writes);
      else if (outcome !== "OK") {
        const error = outcome === "STALE" ? (lost ?? this.#crowded()) : outcome.error;
        if (this.#fail(writes, error)) lost = error;
      }
    }
    this.#waiting.unshift(...again);
    const wait = Math.random() * Math.min(LONGEST_WAIT, (this.#attempts - 1) * 5);
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }

  #crowded(): Error {
    this.#attempts = 0;
    return new Error(`Others write to thread '${this.threadId}' all the time; give it one writer.`);
  }

  /** A view that knows the namespaces that are written. */
  async #viewFor(writes: readonly ThreadWrite[]): Promise<ThreadView> {
    for (const write of writes) {
      if (this.#view?.namespace(write.namespace).length !== undefined) continue;
      const id = write.kind === "checkpoint" ? write.parent : undefined;
      const { threadId, context } = this;
      this.#view = (await loadCheckpoint(context, threadId, write.namespace, id, this.#view)).view;
    }
    return this.#view ?? new ThreadView("", "");
  }

  async #send(view: ThreadView, { namespaces, bodies, refs, records }: Batch): Promise<"OK" | "STALE"> {
    const { context } = this;
    const keys = checkpointKeys(context, this.threadId);
    const token = newToken();
    const before = view.token;
    if (before === "") view.generation = newToken();
    view.token = token;
    const args: ScriptArg[] = [
      ...fence(context.lease),
      before,
      token,
      view.generation,
      context.retentionSeconds,
      bodies.length,
      refs,
      ...bodies,
      ...namespaces.map((namespace) => keys.head(namespace)),
      ...records.flatMap(({ log, key, record }) => [log, key, record]),
    ];
    const registered = this.#register(before === "");
    // Both may fail, and then the first one is told.
    registered.catch(() => {});
    const [what] = (await runScript(
      context.redis,
      APPEND,
      [keys.meta, keys.bodies, keys.refs, keys.thread, ...namespaces.map(keys.log)],
      args,
    ).finally(() => registered)) as [Buffer];
    if (String(what) === "LOST" && context.lease !== undefined) throw leaseLost(context.lease);
    return String(what) === "OK" ? "OK" : "STALE";
  }

  /** Puts the thread into its tenant's index, once for a saver. Leaves before the write, at no cost in time. */
  async #register(isNew: boolean): Promise<void> {
    if (this.#isRegistered || !(isNew || this.context.retentionSeconds > 0)) return;
    this.#isRegistered = true;
    try {
      await registerThread(this.context, this.threadId);
    } catch (error) {
      this.#isRegistered = false;
      throw error;
    }
  }
}
