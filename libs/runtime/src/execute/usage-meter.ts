import { noUsage, type Usage } from "@drover/contracts";
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { UsageMetadata } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";

/** Counts what one activation uses, wherever in the graph: every request to a provider and every tool's start. */
export class UsageMeter extends BaseCallbackHandler {
  readonly name = "drover.usage";
  override readonly awaitHandlers = true;
  readonly usage: Usage = noUsage();

  override handleChatModelStart(): void {
    this.usage.modelCalls += 1;
  }

  override handleToolStart(): void {
    this.usage.toolCalls += 1;
  }

  override handleLLMEnd(output: LLMResult): void {
    const generation = output.generations[0]?.[0];
    const message = generation && "message" in generation ? generation.message : undefined;
    const counted = (message as { usage_metadata?: UsageMetadata } | undefined)?.usage_metadata;
    if (!counted) return;
    this.usage.inputTokens += counted.input_tokens;
    this.usage.outputTokens += counted.output_tokens;
    this.usage.cachedTokens += counted.input_token_details?.cache_read ?? 0;
    this.usage.reasoningTokens += counted.output_token_details?.reasoning ?? 0;
  }
}
