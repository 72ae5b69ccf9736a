import { type AcceptedMessage, DroverError, type MessageType, replacementReason } from "@drover/contracts";
import type { State } from "@drover/state";
import type { KnownAgents } from "./known-agents.js";

/**
 * Refuses a message without a signature where the policy of an agent wants one. A start that takes the place of
 * another run ends that one: it is held to what is wanted of a `run.cancel`, too.
 * @param agent whom the message is about
 * @throws DroverError BAD_SIGNATURE
 */
export async function assertMayBeUnsigned(
  state: State,
  message: AcceptedMessage,
  agent: string,
  terms: KnownAgents["terms"],
): Promise<void> {
  const deeds: [MessageType, string][] = [[message.type, agent]];
  if (message.type === "run.start" && replacementReason(message.request.multitaskStrategy) !== undefined) {
    deeds.push(["run.cancel", agent], ["run.cancel", (await agentInTheWay(state, message)) ?? agent]);
  }
  for (const [type, whose] of deeds) {
    if (!terms[whose]?.signedMessages.includes(type)) continue;
    throw new DroverError(
      "BAD_SIGNATURE",
      `The message is refused: a ${type} for '${whose}' needs a signature. Sign it with a key of DROVER_SERVICE_KEYS.`,
    );
  }
}

type Start = Extract<AcceptedMessage, { type: "run.start" }>;

/** The agent of the thread's current run. */
async function agentInTheWay(state: State, { tenant, request }: Start): Promise<string | undefined> {
  const { threadId } = request;
  const current = threadId === undefined ? null : await state.reader.current({ tenant, threadId });
  return current ? (await state.reader.run(current, false))?.agent : undefined;
}
