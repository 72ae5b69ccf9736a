import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { Serialized } from "@langchain/core/load/serializable";
import { type AIMessage, type BaseMessage, isAIMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";

/** Hears of models and tools, wherever in a graph they are called; the steps of the graph need not tell. */
export abstract class ModelListener extends BaseCallbackHandler {
  override readonly awaitHandlers = true;
  override readonly ignoreChain = true;
  override readonly ignoreRetriever = true;
  override readonly ignoreCustomEvent = true;

  override handleChatModelStart(
    _model: Serialized,
    messages: BaseMessage[][],
    callId: string,
    _parentRunId?: string,
    _extra?: Record<string, unknown>,
    _tags?: string[],
    metadata: Record<string, unknown> = {},
  ): void {
    this.modelAsked(callId, metadata, messages[0] ?? []);
  }

  /** A model is asked. @param metadata LangChain's and LangGraph's about the call */
  protected abstract modelAsked(
    callId: string,
    metadata: Record<string, unknown>,
    messages: readonly BaseMessage[],
  ): void;
}

/** What a model answered; undefined where it is no message of a model. */
export function answerIn({ generations }: LLMResult): AIMessage | undefined {
  const generation = generations[0]?.[0];
  const message = generation && "message" in generation ? (generation.message as BaseMessage) : undefined;
  return message && isAIMessage(message) ? message : undefined;
}
