import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type AIMessage, type BaseMessage, isToolMessage } from "@langchain/core/messages";
import type { WrapModelCallHook } from "langchain";
import { type RunContext, runOf } from "../execute/run-context.js";
import { modelName } from "../models/index.js";
import { closingMessage } from "./answers.js";
import { delayBefore, wait } from "./backoff.js";
import { ModelCallError, trueCause } from "./failures.js";
import { marksOf } from "./marks.js";
import type { EffectivePolicy } from "./policy.js";
import { isRetried } from "./retry-on.js";

/**
 * The layers outside of the gate: fallback around retry. Each model gets all its tries, then the next one; when all
 * have failed, the last error stands. Only failures of model calls are answered so: interrupts, aborts, limits and
 * errors of other middleware pass through.
 */
export function modelTries(policy: EffectivePolicy, fallbacks: readonly BaseChatModel[]): WrapModelCallHook {
  return async (request, handler) => {
    const run = runOf(request.runtime);
    const ended = endOfTools(request.messages);
    if (ended) return ended;
    const models = [request.model, ...fallbacks];
    let last: ModelCallError | undefined;
    for (const [i, model] of models.entries()) {
      if (last) countFallback(run, models[i - 1], model);
      try {
        return await withRetries(policy, run, () => handler({ ...request, model }));
      } catch (error) {
        const cause = trueCause(error);
        if (!(cause instanceof ModelCallError)) throw error;
        last = cause;
      }
    }
    return afterAll(policy, last as ModelCallError);
  };
}

async function withRetries<T>(
  policy: EffectivePolicy,
  run: RunContext,
  ask: () => T | Promise<T>,
): Promise<T> {
  const { modelRetry: rule } = policy;
  for (let retry = 1; ; retry++) {
    try {
      return await ask();
    } catch (error) {
      const cause = trueCause(error);
      if (!(cause instanceof ModelCallError) || retry > rule.maxRetries || !mayRetry(policy, cause))
        throw error;
      const { retryAfterMs } = cause;
      // The provider wants a longer wait than a worker should hold: the run's own retry waits in the queue.
      if (retryAfterMs !== undefined && retryAfterMs > rule.maxDelayMs) throw error;
      const delayMs = delayBefore(retry, rule, retryAfterMs);
      const { agent } = run.activation;
      run.services.logger.warn(
        { code: cause.code, retry, delayMs },
        "A model call failed and is tried again",
      );
      run.services.metrics?.inc("drover_retries_total", { agent, layer: "model" });
      await wait(delayMs, run.services.signal);
    }
  }
}

function mayRetry({ modelRetry }: EffectivePolicy, error: ModelCallError): boolean {
  if (modelRetry.retryOn === undefined) return error.retryable;
  return isRetried(modelRetry.retryOn, error.cause instanceof Error ? error.cause : error);
}

function afterAll({ modelRetry: { onFailure } }: EffectivePolicy, last: ModelCallError): AIMessage {
  if (onFailure === "error") throw last;
  const text =
    typeof onFailure === "function"
      ? onFailure(last.cause instanceof Error ? last.cause : last)
      : `The model could not be reached: ${last.message}`;
  return closingMessage(text, { endedBy: "error" });
}

/** A tool's limit ends the run after its step: every call has its answer by then, and no model is asked. */
function endOfTools(messages: readonly BaseMessage[]): AIMessage | undefined {
  for (const message of messages.toReversed()) {
    if (!isToolMessage(message)) return undefined;
    const { endedBy } = marksOf(message);
    if (endedBy) return closingMessage(message.text, { endedBy });
  }
  return undefined;
}

function countFallback(run: RunContext, from: unknown, to: unknown): void {
  const name = (model: unknown) => modelName(model as BaseChatModel);
  const labels = { agent: run.activation.agent, from_model: name(from), to_model: name(to) };
  run.services.logger.warn({ from: labels.from_model, to: labels.to_model }, "The next model is asked");
  run.services.metrics?.inc("drover_fallbacks_total", labels);
}
