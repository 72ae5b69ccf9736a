import { DroverError, type Redaction, type Redactor } from "@drover/contracts";
import { createRedactor } from "@drover/redaction";
import { type LoadedAgent, piiRulesOf } from "@drover/runtime";

export interface RedactorsOptions {
  /** Keys the hashes of the strategy `hash`; the same in every process. */
  hashKey?: string | undefined;
  onRedaction?: (agent: string, redaction: Redaction) => void;
}

/**
 * The redactor of every agent that has PII rules, by name: for the worker that runs them and for the producer that
 * enqueues runs of them. Throws INVALID_POLICY with the agent's name.
 */
export function redactorsOf(
  agents: readonly LoadedAgent[],
  { hashKey, onRedaction }: RedactorsOptions = {},
): Map<string, Redactor> {
  const redactors = new Map<string, Redactor>();
  for (const agent of agents) {
    const { name } = agent;
    const rules = piiRulesOf(agent);
    if (rules.length === 0) continue;
    try {
      redactors.set(
        name,
        createRedactor({ rules, hashKey, onRedaction: (redaction) => onRedaction?.(name, redaction) }),
      );
    } catch (error) {
      if (!(error instanceof DroverError)) throw error;
      throw new DroverError(error.code, `Agent '${name}': ${error.message}`, { cause: error });
    }
  }
  return redactors;
}
