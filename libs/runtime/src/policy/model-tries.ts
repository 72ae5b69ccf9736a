import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type AIMessage, type BaseMessage, isToolMessage } from "@langchain/core/messages";
import type { WrapModelCallHook } from "langchain";
import type { AgentModels } from "../agent/models.js";
import { type RunContext, runOf } from "../execute/run-context.js";
import { modelName } from "../models/index.js";
import { closingMessage, type ModelAnswer } from "./answers.js";
import { ModelCallError, trueCause } from "./failures.js";
import { type History, historyOf } from "./history/summarize.js";
import { marksOf } from "./marks.js";
import { isContextOverflow } from "./overflow.js";
import type { EffectivePolicy } from "./policy.js";
import { selectedTools } from "./tool-selector.js";
import { withRetries } from "./with-retries.js";

/**
 * The layers outside of the gate: the history and the tools as the policy lets the model see them, then fallback
 * around retry. Each model gets all its tries, then the next one; when all have failed, the last error stands. A
 * history that is too long for a model is summarised, where the policy summarises, and the same model is asked again.
 * Only failures of model calls are answered so: interrupts, aborts, limits and errors of other middleware pass through.
 */
export function modelTries(policy: EffectivePolicy, models: AgentModels): WrapModelCallHook {
  return async (request, handler) => {
    const run = runOf(request.runtime);
    const ended = endOfTools(request.messages);
    if (ended) return ended;
    const primary = request.model as BaseChatModel;
    const { summarizer = primary, selector = primary } = models;
    const history = await historyOf({
      policy,
      run,
      model: primary,
      summarizer,
      messages: request.messages,
    });
    const tools = await selectedTools({
      policy,
      run,
      model: selector,
      tools: request.tools,
      messages: history.messages,
    });
    const ask = async (model: typeof request.model) => {
      const answer = await withRetries(policy, run, () =>
        handler({ ...request, model, tools, messages: history.messages }),
      );
      return history.kept(answer as ModelAnswer) as AIMessage;
    };
    return firstAnswer(policy, run, [primary, ...models.fallbacks], history, ask);
  };
}

async function firstAnswer(
  policy: EffectivePolicy,
  run: RunContext,
  models: readonly BaseChatModel[],
  history: History,
  ask: (model: BaseChatModel) => Promise<AIMessage>,
): Promise<AIMessage> {
  let last: ModelCallError | undefined;
  for (const [i, model] of models.entries()) {
    if (last) countFallback(run, models[i - 1], model);
    do {
      try {
        return await ask(model);
      } catch (error) {
        const cause = trueCause(error);
        if (!(cause instanceof ModelCallError)) throw error;
        last = cause;
      }
    } while (isContextOverflow(last) && (await history.shrink()));
  }
  return afterAll(policy, last as ModelCallError);
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
