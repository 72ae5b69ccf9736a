import { type Approval, DroverError } from "@drover/contracts";
import type { State } from "@drover/state";

/** The versions of agents that there are: name → those of living workers, or the last that any worker announced. */
export async function versionsThere(state: State): Promise<(agent: string) => string[]> {
  const [workers, announced] = await Promise.all([state.workers.list(), state.workers.agents()]);
  return (agent) => {
    const living = workers.flatMap(({ description }) => description.versions?.[agent] ?? []);
    const last = announced[agent];
    return living.length > 0 || last === undefined ? living : [last];
  };
}

/**
 * The version of the agent that may take the answer: the one that asked, as long as a worker has it. Undefined, any,
 * where the caller chose to go on with whatever version there is now. Throws VERSION_MISMATCH.
 */
export function versionForAnswer(
  { approvalId, agent, agentVersion }: Approval,
  versionsOf: (agent: string) => string[],
  onMismatch: "refuse" | "resume",
): string | undefined {
  if (onMismatch === "resume") return undefined;
  const there = new Set(versionsOf(agent));
  if (there.size === 0 || there.has(agentVersion)) return agentVersion;
  throw new DroverError(
    "VERSION_MISMATCH",
    `Approval ${approvalId} was asked by version ${agentVersion} of '${agent}'; the workers have ${[...there].sort().join(", ")}. ` +
      'Start a worker with the old version, reject the question, or answer with onVersionMismatch "resume" to go on with the new one.',
  );
}
