import type { BaseMessage, BaseMessageChunk } from "@langchain/core/messages";
import { ChatOpenAICompletions } from "@langchain/openai";

/**
 * OpenAI's chat completions send a refusal beside the content, and LangChain drops it: the answer would look empty.
 * Here it stays, in `additional_kwargs.refusal`, where LangChain keeps that of the Responses API.
 */
export class CompletionsWithRefusals extends ChatOpenAICompletions {
  protected override _convertCompletionsMessageToBaseMessage(
    ...args: Parameters<ChatOpenAICompletions["_convertCompletionsMessageToBaseMessage"]>
  ): BaseMessage {
    return withRefusal(super._convertCompletionsMessageToBaseMessage(...args), args[0].refusal);
  }

  protected override _convertCompletionsDeltaToBaseMessageChunk(
    ...args: Parameters<ChatOpenAICompletions["_convertCompletionsDeltaToBaseMessageChunk"]>
  ): BaseMessageChunk {
    return withRefusal(super._convertCompletionsDeltaToBaseMessageChunk(...args), args[0].refusal);
  }
}

function withRefusal<M extends BaseMessage>(message: M, refusal: unknown): M {
  if (typeof refusal === "string" && refusal !== "") message.additional_kwargs.refusal = refusal;
  return message;
}
