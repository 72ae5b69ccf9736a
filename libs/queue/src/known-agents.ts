import type { AgentTerms, State } from "@drover/state";

/** Milliseconds for which what workers announced is taken as known. */
const KNOWN_MS = 5000;

export interface KnownAgents {
  /** Empty where no worker ever announced any. */
  names: readonly string[];
  /** What each said of its policy. */
  terms: Readonly<Record<string, AgentTerms>>;
}

/** The agents that workers announced, asked for at most every five seconds. */
export function knownAgentsOf(state: State): () => Promise<KnownAgents> {
  let known: KnownAgents & { at: number } = { names: [], terms: {}, at: Number.NEGATIVE_INFINITY };
  return async () => {
    if (performance.now() - known.at > KNOWN_MS) {
      const [versions, terms] = await Promise.all([state.workers.agents(), state.workers.termsOfAgents()]);
      known = { names: Object.keys(versions), terms, at: performance.now() };
    }
    return known;
  };
}
