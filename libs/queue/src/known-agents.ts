import type { AgentTerms, State } from "@drover/state";

/** Milliseconds for which what workers announced is taken as known. */
const KNOWN_MS = 5000;

export interface KnownAgents {
  /** Empty where no worker ever announced any. */
  names: readonly string[];
  /** What each said of its policy. */
  terms: Readonly<Record<string, AgentTerms>>;
}

/** Asks for what workers announced. `agents` are those that the caller means. */
export type KnowsAgents = (agents: readonly string[]) => Promise<KnownAgents>;

/** Asked anew after five seconds, and at once where an agent is not known: its first worker may just have come. */
export function knownAgentsOf(state: State): KnowsAgents {
  let known: KnownAgents & { at: number } = { names: [], terms: {}, at: Number.NEGATIVE_INFINITY };
  return async (agents) => {
    const isNew = known.names.length > 0 && agents.some((agent) => !known.names.includes(agent));
    if (isNew || performance.now() - known.at > KNOWN_MS) {
      const [versions, terms] = await Promise.all([state.workers.agents(), state.workers.termsOfAgents()]);
      known = { names: Object.keys(versions), terms, at: performance.now() };
    }
    return known;
  };
}
