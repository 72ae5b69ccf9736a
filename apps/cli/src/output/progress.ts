import type { Batch } from "@drover/contracts";
import { SingleBar } from "cli-progress";
import { count, duration, rate } from "./format.js";
import type { Output } from "./output.js";
import { fit } from "./text.js";

/** Milliseconds between two lines where there is no terminal. */
const LINE_EVERY_MS = 5000;
/** Milliseconds over which the rate is measured. */
const WINDOW_MS = 15_000;

export interface ProgressState {
  batch: Batch;
  /** Documents in all, as far as they are known. */
  total: number;
  /** Documents that never became runs: they count as done. */
  refused: number;
}

/** Shows how far a batch is: a bar on a terminal, a line every few seconds elsewhere, both on standard error. */
export class Progress {
  private readonly samples: { at: number; done: number }[] = [];
  private readonly bar: SingleBar | undefined;
  private saidAt = performance.now();

  constructor(
    private readonly out: Output,
    private readonly noun = "document",
  ) {
    if (process.stderr.isTTY) this.bar = this.openBar();
  }

  update(state: ProgressState): void {
    const { total } = state;
    const done = doneOf(state);
    const perSecond = this.measure(done);
    if (this.bar) {
      this.bar.setTotal(Math.max(total, 1));
      const room = Math.max(20, (process.stderr.columns ?? 80) - 40);
      this.bar.update(done, { about: fit(about(state, done, perSecond), room) });
    } else if (performance.now() - this.saidAt > LINE_EVERY_MS && done < total) {
      this.saidAt = performance.now();
      const share = Math.floor((done / Math.max(total, 1)) * 100);
      this.out.note(
        `${count(done)} of ${count(total)} ${this.noun}s (${share} %)  ${about(state, done, perSecond)}`,
      );
    }
  }

  /** Takes the bar away. */
  stop(): void {
    this.out.makeRoomBy(undefined);
    this.bar?.stop();
  }

  private openBar(): SingleBar {
    const bar = new SingleBar({
      format: "{bar} {percentage} %  {value}/{total}  {about}",
      barsize: 18,
      barCompleteChar: "█",
      barIncompleteChar: "░",
      hideCursor: true,
      clearOnComplete: true,
      // Its own handler of Ctrl-C would take the bar away before the command has ended.
      gracefulExit: false,
      stream: process.stderr,
    });
    bar.start(1, 0, { about: "" });
    this.out.makeRoomBy((write) => {
      process.stderr.write("\r\x1b[K");
      write();
      bar.render();
    });
    return bar;
  }

  /** Documents a second over the last seconds. */
  private measure(done: number): number {
    const now = performance.now();
    this.samples.push({ at: now, done });
    while ((this.samples[1]?.at ?? now) < now - WINDOW_MS) this.samples.shift();
    const first = this.samples[0];
    if (!first || now - first.at < 500) return 0;
    return ((done - first.done) / (now - first.at)) * 1000;
  }
}

/** Documents for which nothing is left to run. */
export function doneOf({ batch: { counts }, refused }: Pick<ProgressState, "batch" | "refused">): number {
  return counts.success + counts.error + counts.timeout + counts.cancelled + counts.interrupted + refused;
}

function about(state: ProgressState, done: number, perSecond: number): string {
  const { batch, total, refused } = state;
  const { counts } = batch;
  const failed = counts.error + counts.timeout + refused;
  const left = perSecond > 0 ? duration(Math.ceil((total - done) / perSecond) * 1000) : "";
  return [
    batch.paused ? "paused" : perSecond > 0 ? rate(perSecond) : "",
    left && done < total && !batch.paused ? `${left} left` : "",
    counts.interrupted > 0 ? `${count(counts.interrupted)} waiting` : "",
    failed > 0 ? `${count(failed)} failed` : "",
    counts.cancelled > 0 ? `${count(counts.cancelled)} cancelled` : "",
  ]
    .filter(Boolean)
    .join(", ");
}
