import { leaseLost } from "../refusals.js";
import { runScript, type ScriptArg } from "../scripts.js";
import { APPEND, type CheckpointContext, checkpointKeys, fence, newToken } from "./context.js";
import { registerThread } from "./thread-index.js";
import { loadCheckpoint } from "./thread-reader.js";
import { ThreadView } from "./thread-view.js";
import { renderBatch, type ThreadWrite } from "./thread-write.js";

interface Waiting {
  write: ThreadWrite;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** How often a flush is rendered anew because somebody else wrote in between, before that is an error. */
const ATTEMPTS = 100;
/** The longest wait before the next attempt, in milliseconds; random, so that two writers do not keep in step. */
const LONGEST_WAIT = 50;

/**
 * The writes of one thread, in order. What is handed over in one turn of the event loop, or while a flush is under
 * way, leaves together in one script call. Only one flush of a thread is under way at a time, so that nothing (the
 * fallback for an unknown script least of all) can change the order.
 */
export class ThreadQueue {
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #view: ThreadView | undefined;
  #isRegistered = false;

  constructor(
    readonly context: CheckpointContext,
    readonly threadId: string,
  ) {}

  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** What is known of the thread, once all writes so far have ended. */
  async settledView(): Promise<ThreadView | undefined> {
    while (this.#running !== undefined) await this.#running;
    return this.#view;
  }

  set view(view: ThreadView | undefined) {
    this.#view = view;
  }

  add(write: ThreadWrite): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        await this.#flush(batch.map(({ write }) => write));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#view = undefined;
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = undefined;
  }

  async #flush(writes: ThreadWrite[]): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const view = await this.#viewFor(writes);
      const what = await this.#send(view, await renderBatch(this.context, this.threadId, view, writes));
      if (what === "OK") return;
      this.#view = undefined;
      if (what === "LOST" && this.context.lease !== undefined) throw leaseLost(this.context.lease);
      const wait = Math.random() * Math.min(LONGEST_WAIT, attempt * 5);
      if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
    throw new Error(`Others write to thread '${this.threadId}' all the time; give it one writer.`);
  }

  /** A view that knows the namespaces that are written. */
  async #viewFor(writes: ThreadWrite[]): Promise<ThreadView> {
    for (const write of writes) {
      if (this.#view?.namespace(write.namespace).length !== undefined) continue;
      const id = write.kind === "checkpoint" ? write.parent : undefined;
      const { threadId, context } = this;
      this.#view = (await loadCheckpoint(context, threadId, write.namespace, id, this.#view)).view;
    }
    return this.#view ?? new ThreadView("", "");
  }

  /** Puts the thread into its tenant's index, once for a saver. Leaves before the write, at no cost in time. */
  async #register(view: ThreadView): Promise<void> {
    const isNew = view.token === "";
    if (this.#isRegistered || !(isNew || this.context.retentionSeconds > 0)) return;
    this.#isRegistered = true;
    await registerThread(this.context, this.threadId);
  }

  async #send(view: ThreadView, batch: Awaited<ReturnType<typeof renderBatch>>): Promise<string> {
    const { context } = this;
    const keys = checkpointKeys(context, this.threadId);
    const token = newToken();
    const generation = view.token === "" ? newToken() : view.generation;
    const { namespaces, bodies, refs, records } = batch;
    const args: ScriptArg[] = [
      ...fence(context.lease),
      view.token,
      token,
      generation,
      context.retentionSeconds,
      bodies.length,
      refs,
      ...bodies,
      ...namespaces.map((namespace) => keys.head(namespace)),
      ...records.flatMap(({ log, key, record }) => [log, key, record]),
    ];
    const registered = this.#register(view);
    const reply = await runScript(
      context.redis,
      APPEND,
      [keys.meta, keys.bodies, keys.refs, keys.thread, ...namespaces.map(keys.log)],
      args,
    );
    await registered;
    const what = String((reply as Buffer[])[0]);
    if (what === "OK") {
      view.token = token;
      view.generation = generation;
    }
    return what;
  }
}
