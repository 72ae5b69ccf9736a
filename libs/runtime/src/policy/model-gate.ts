import type { RedactionPlace } from "@drover/contracts";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { WrapModelCallHook } from "langchain";
import { type RunContext, runOf } from "../execute/run-context.js";
import { pastTheGate } from "../execute/ungated-calls.js";
import { assertUsable, endReason } from "../models/index.js";
import { type AnswerFormat, isWrongShape, MOST_CORRECTIONS } from "./answer-format.js";
import {
  closingMessage,
  correctionOf,
  isStructured,
  type ModelAnswer,
  withEveryClosingCallAnswered,
  withoutCutOffCalls,
} from "./answers.js";
import { ModelCallError, passesThrough, toModelCallError, trueCause } from "./failures.js";
import { withEveryCallAnswered } from "./history/open-calls.js";
import {
  type ModelLimit,
  modelLimitError,
  modelLimitMessage,
  type Reached,
  takeModelUnit,
} from "./limits.js";
import type { EffectivePolicy } from "./policy.js";

/**
 * The innermost layer around a provider. For every single request:
 * 1. nothing is called after the run was stopped;
 * 2. one unit of the limits is taken first;
 * 3. what is sent is redacted and has an answer to every tool call;
 * 4. what comes back is redacted, usable, and has the required shape, or the model is told and asked again.
 */
export function modelGate(policy: EffectivePolicy, format: AnswerFormat | undefined): WrapModelCallHook {
  return async (request, handler) => {
    const run = runOf(request.runtime);
    const { redactor } = run.services;
    const sent = {
      ...request,
      systemMessage: redactor.value(request.systemMessage, "input"),
      ...(format === undefined ? {} : { responseFormat: format.for(request.model) }),
    };
    let messages = redactor.value(withEveryCallAnswered(request.messages), "input");
    for (let corrections = 0; ; corrections++) {
      run.services.signal.throwIfAborted();
      const reached = await takeModelUnit(policy, run);
      if (reached) return limitReached(reached);
      const ask = () => pastTheGate(() => handler({ ...sent, messages } as typeof request));
      const answer = await call(ask, run);
      if (!isWrongShape(answer)) return redacted(answer, run);
      const given = run.answers.get(String(request.runtime.configurable?.checkpoint_ns));
      if (given && endReason(given) !== "completed") return redacted(withoutCutOffCalls(given), run);
      const text = corrections < MOST_CORRECTIONS ? await format?.explain(answer) : undefined;
      if (given === undefined || text === undefined) throw wrongShape(answer);
      messages = redactor.value([...messages, ...correctionOf(given, text)], "input");
    }
  };
}

/** The answer, or the error that says that it has the wrong shape; throws ModelCallError for every other failure. */
async function call(ask: () => unknown, run: RunContext): Promise<ModelAnswer | Error> {
  try {
    const answer = (await ask()) as ModelAnswer;
    if (isStructured(answer)) return { ...answer, messages: withEveryClosingCallAnswered(answer.messages) };
    assertUsable(answer);
    return withoutCutOffCalls(answer);
  } catch (error) {
    if (passesThrough(error, run.services.signal)) throw error;
    const cause = trueCause(error);
    if (isWrongShape(cause)) return cause;
    throw toModelCallError(cause);
  }
}

function limitReached(reached: Reached<ModelLimit>): AIMessage {
  if (reached.rule.onLimit !== "end") throw modelLimitError(reached);
  return closingMessage(modelLimitMessage(reached), { endedBy: "model_call_limit" });
}

function wrongShape(cause: Error): ModelCallError {
  return new ModelCallError(
    {
      code: "STRUCTURED_OUTPUT_INVALID",
      retryable: false,
      message: `The model's answer does not fit the response format, also after it was told so: ${cause.message}`,
    },
    cause,
  );
}

function redacted(answer: ModelAnswer, run: RunContext): AIMessage {
  const clean = <T>(value: T, place: RedactionPlace) => run.services.redactor.value(value, place);
  if (!isStructured(answer)) return clean(answer, "output");
  const structured = {
    structuredResponse: clean(answer.structuredResponse, "structured_output"),
    messages: clean<BaseMessage[]>(answer.messages, "output"),
  };
  // LangChain's type of the hook knows messages only; its model step takes this shape, and made it.
  return structured as unknown as AIMessage;
}
