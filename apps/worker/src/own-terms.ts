import type { KnowsAgents } from "@drover/queue";
import type { LoadedAgent } from "@drover/runtime";

/**
 * What workers announced of agents, and what this worker's own policy says of which messages must be signed: a worker
 * that knows less, and came later, loosens nothing here. An agent that is not here is held to what the fleet's policy
 * wants of all.
 */
export function withOwnTerms(
  ask: KnowsAgents,
  agents: readonly Pick<LoadedAgent, "name" | "people" | "fleet">[],
): KnowsAgents {
  const own = new Map(agents.map(({ name, people }) => [name, people.signedMessages]));
  const ofAll = agents.flatMap(({ fleet }) => fleet?.ceilings.signedMessages ?? []);
  return async (asked) => {
    const { names, terms } = await ask(asked);
    const joined = [...new Set([...names, ...asked])].map((name) => {
      const announced = terms[name] ?? { signedMessages: [] };
      const signedMessages = new Set([...announced.signedMessages, ...(own.get(name) ?? ofAll)]);
      return [name, { ...announced, signedMessages: [...signedMessages] }] as const;
    });
    return { names, terms: Object.fromEntries(joined) };
  };
}
