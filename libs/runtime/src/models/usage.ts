import { noUsage, type Usage } from "@drover/contracts";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, UsageMetadata } from "@langchain/core/messages";
import { costOf, type Prices } from "./prices.js";

/** As the provider counted. The cached and the cache-writing ones are part of the input, reasoning of the output. */
export interface Tokens {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
}

/** The tokens of one answer; zeros where the provider sent no counts (some streams of compatible servers). */
export function tokensOf(message: AIMessage): Tokens {
  const counts = countsOf(message);
  return {
    inputTokens: counts?.input_tokens ?? 0,
    outputTokens: counts?.output_tokens ?? 0,
    cachedTokens: counts?.input_token_details?.cache_read ?? 0,
    cacheWriteTokens: counts?.input_token_details?.cache_creation ?? 0,
    reasoningTokens: counts?.output_token_details?.reasoning ?? 0,
  };
}

/** LangChain's type of the field depends on a message structure that a plain AIMessage leaves open. */
function countsOf(message: AIMessage): UsageMetadata | undefined {
  return message.usage_metadata as UsageMetadata | undefined;
}

/**
 * What one answered call adds to its run's usage. A call without counts or without a price is an unpriced one.
 * @param model `provider:model`, as modelName gives it
 */
export function usageOfCall(message: AIMessage, model: string, prices: Prices): Usage {
  const { cacheWriteTokens, ...tokens } = tokensOf(message);
  const dollars = countsOf(message) ? costOf(model, { ...tokens, cacheWriteTokens }, prices) : null;
  return {
    ...noUsage(),
    ...tokens,
    modelCalls: 1,
    costMicros: Math.round((dollars ?? 0) * 1_000_000),
    unpricedCalls: dollars === null ? 1 : 0,
  };
}

/** `provider:model` of a spec or of a model instance, by which prices are looked up. */
export function modelName(model: string | BaseChatModel): string {
  if (typeof model === "string") return model;
  const name = "model" in model && typeof model.model === "string" ? model.model : "unknown";
  return name.includes(":") && name.startsWith(`${model._llmType()}:`) ? name : `${model._llmType()}:${name}`;
}
