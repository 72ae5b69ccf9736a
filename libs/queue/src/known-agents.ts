import type { NoticeDefaults } from "@drover/contracts";
import type { State } from "@drover/state";

/** Milliseconds for which what workers announced is taken as known. */
const KNOWN_MS = 5000;

export interface KnownAgents {
  /** Empty where no worker ever announced any. */
  names: readonly string[];
  /** Who is told of an agent's runs, where neither the run nor its batch says. */
  notify: Readonly<Record<string, NoticeDefaults>>;
}

/** The agents that workers announced, asked for at most every five seconds. */
export function knownAgentsOf(state: State): () => Promise<KnownAgents> {
  let known: KnownAgents & { at: number } = { names: [], notify: {}, at: Number.NEGATIVE_INFINITY };
  return async () => {
    if (performance.now() - known.at > KNOWN_MS) {
      const [versions, notify] = await Promise.all([state.workers.agents(), state.workers.notifyOfAgents()]);
      known = { names: Object.keys(versions), notify, at: performance.now() };
    }
    return known;
  };
}
