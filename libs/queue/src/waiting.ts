import type { Run } from "@drover/contracts";
import type { Standing, State } from "@drover/state";
import { type PauseScope, scopesOf } from "./run-control.js";

/** What a pending run waits for: the first thing that keeps it from being worked on. */
export type WaitReason =
  /** The runs of its thread that were accepted before it. */
  | { what: "thread"; behind: string; ahead: number }
  /** Its own delay, or the time between two tries. */
  | { what: "delay"; until: number }
  /** Others have all shares of a limit of concurrent runs. */
  | ({ what: "concurrency" } & Standing)
  | { what: "paused"; scope: PauseScope }
  /** No worker that lives has its agent. */
  | { what: "agent"; agent: string }
  /** Its turn: this many wait on the queue. */
  | { what: "queue"; waiting: number };

/** Null for a run that does not wait. */
export async function waitReason(
  state: State,
  waiting: () => Promise<number>,
  run: Run,
): Promise<WaitReason | null> {
  if (run.status !== "pending") return null;
  const [place, standing, pauses, workers] = await Promise.all([
    state.reader.place(run),
    state.shares.standing(run),
    state.workers.pauses(),
    state.workers.list(),
  ]);
  if (place.behind) return { what: "thread", behind: place.behind, ahead: place.ahead };
  const scope = scopesOf(run).find((one) => pauses.includes(one));
  if (scope) return { what: "paused", scope };
  if (place.delayUntil !== null && place.delayUntil > (await state.indexes.now())) {
    return { what: "delay", until: place.delayUntil };
  }
  if (standing) return { what: "concurrency", ...standing };
  const { agent } = run;
  if (!workers.some(({ description }) => description.agents.includes(agent))) return { what: "agent", agent };
  return { what: "queue", waiting: await waiting() };
}
