import { EXIT, type ExitCode } from "./exit-codes.js";

/** One Ctrl-C reaches a process under npm twice, from the terminal and from npm: this close together is one. */
const SAME_SIGNAL_MS = 700;

/** Ctrl-C and SIGTERM: the first asks the command to end in order, a later one ends it at once. */
export class Interruption {
  private readonly controller = new AbortController();
  private readonly emergencies = new Set<() => void>();
  private firstAt = 0;
  /** 130 or 143 once there was a signal. */
  exitCode: ExitCode | undefined;

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  listen(): void {
    process.on("SIGINT", () => this.take(EXIT.interrupted));
    process.on("SIGTERM", () => this.take(EXIT.terminated));
    // The terminal is gone.
    process.on("SIGHUP", () => this.take(EXIT.terminated));
  }

  /** Registers what must happen even where the process ends at once; gives the way to take it back. */
  onEmergency(act: () => void): () => void {
    this.emergencies.add(act);
    return () => this.emergencies.delete(act);
  }

  private take(code: ExitCode): void {
    if (this.exitCode === undefined) {
      this.exitCode = code;
      this.firstAt = performance.now();
      this.controller.abort();
    } else if (performance.now() - this.firstAt > SAME_SIGNAL_MS) {
      for (const act of this.emergencies) act();
      process.exit(code);
    }
  }
}
