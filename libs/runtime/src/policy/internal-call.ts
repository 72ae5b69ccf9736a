import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import type { RunContext } from "../execute/run-context.js";
import { pastTheGate } from "../execute/ungated-calls.js";
import { passesThrough, toModelCallError } from "./failures.js";
import { takeModelUnit } from "./limits.js";
import type { EffectivePolicy } from "./policy.js";
import { withRetries } from "./with-retries.js";

/** What a policy asks a model for its own purposes: to summarise, to choose tools, to answer in a tool's place. */
export type Purpose = "summarization" | "llmToolSelector" | "toolEmulation";

type Ask<T> = (model: BaseChatModel, messages: BaseMessage[], config: object) => Promise<T>;

/**
 * Calls a model as the policy has every model called: a unit of the limits first, redacted, retried, counted in the
 * run's usage, and never after the run was stopped. Its tokens are not streamed. Undefined where no unit is left.
 * @throws ModelCallError
 */
export function askModel<T>(
  {
    policy,
    run,
    model,
    purpose,
  }: { policy: EffectivePolicy; run: RunContext; model: BaseChatModel; purpose: Purpose },
  messages: BaseMessage[],
  ask: Ask<T>,
): Promise<T | undefined> {
  const { services, callbacks } = run;
  const sent = services.redactor.value(messages, "input");
  const config = { callbacks, signal: services.signal, tags: ["nostream"], metadata: { lc_source: purpose } };
  return withRetries(policy, run, async () => {
    services.signal.throwIfAborted();
    if (await takeModelUnit(policy, run)) return undefined;
    try {
      return await pastTheGate(() => ask(model, sent, config));
    } catch (error) {
      if (passesThrough(error, services.signal)) throw error;
      throw toModelCallError(error);
    }
  });
}
