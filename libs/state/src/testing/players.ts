import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../dist/testing/player.js", import.meta.url));

export type Game = "thread" | "counter" | "interrupt" | "effect";

export interface Player {
  /** Plays rounds `from` to `to` (exclusive) of a game. Gives what the process reports of them. */
  play(game: Game, from: number, to: number): Promise<Report>;
  stop(): void;
}

export interface Report {
  /** The rounds that this process won. */
  won: number[];
  /** Writes of one who had not won, or did not have the thread any more, that Redis refused. */
  refused: number;
  /** Such writes that arrived. */
  arrived: number;
  /** Epochs of the rounds won, in their order. */
  epochs: number[];
}

/** Starts a process of the build that plays against another one. */
export function startPlayer(url: string, prefix: string, name: string): Player {
  const child: ChildProcess = fork(main, [url, prefix, name], { stdio: "inherit" });
  const gone = new Promise<never>((_, reject) => {
    child.once("exit", (code) => reject(new Error(`player ${name} ended with ${code}`)));
  });
  gone.catch(() => {});
  return {
    play(game, from, to) {
      const report = new Promise<Report>((resolve) =>
        child.once("message", (message) => resolve(message as Report)),
      );
      child.send({ game, from, to });
      return Promise.race([report, gone]);
    },
    stop: () => child.kill("SIGKILL"),
  };
}
