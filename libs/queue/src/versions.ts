import { type Approval, DroverError } from "@drover/contracts";
import type { State } from "@drover/state";

/**
 * The version of the agent that may take the answer: the one that asked, as long as a worker has it. Undefined, any,
 * where the caller chose to go on with whatever version there is now. Throws VERSION_MISMATCH.
 */
export async function versionForAnswer(
  state: State,
  { approvalId, agent, agentVersion }: Approval,
  onMismatch: "refuse" | "resume",
): Promise<string | undefined> {
  if (onMismatch === "resume") return undefined;
  const [workers, announced] = await Promise.all([state.workers.list(), state.workers.agents()]);
  const living = workers.flatMap(({ description }) => description.versions?.[agent] ?? []);
  const there = new Set(living.length > 0 ? living : [announced[agent] ?? agentVersion]);
  if (there.has(agentVersion)) return agentVersion;
  throw new DroverError(
    "VERSION_MISMATCH",
    `Approval ${approvalId} was asked by version ${agentVersion} of '${agent}'; the workers have ${[...there].sort().join(", ")}. ` +
      'Start a worker with the old version, reject the question, or answer with onVersionMismatch "resume" to go on with the new one.',
  );
}
