import type { BaseMessage } from "@langchain/core/messages";
import { countTokensApproximately } from "langchain";
import type { EffectivePolicy, TokenCounter } from "../policy.js";

export type SummarizationRule = NonNullable<EffectivePolicy["summarization"]>;
type Size = { fraction?: number | undefined; tokens?: number | undefined; messages?: number | undefined };

/** Counts tokens as the rule says: about four characters each by default. */
export const counterOf = (rule: SummarizationRule): TokenCounter =>
  rule.tokenCounter ?? ((messages) => countTokensApproximately(messages));

/** The tokens that a model can take, by the rule or by LangChain's profile of the model. */
export function maxInputTokensOf(rule: SummarizationRule, model: object): number | undefined {
  if (rule.maxInputTokens !== undefined) return rule.maxInputTokens;
  const { profile } = model as { profile?: { maxInputTokens?: unknown } };
  return typeof profile?.maxInputTokens === "number" ? profile.maxInputTokens : undefined;
}

/** All that one condition sets must be reached; of several conditions, one is enough. */
export async function isTriggered(
  rule: SummarizationRule,
  messages: BaseMessage[],
  maxInputTokens: number | undefined,
): Promise<boolean> {
  const conditions = rule.trigger === undefined ? [] : [rule.trigger].flat();
  if (conditions.length === 0) return false;
  const tokens = await counterOf(rule)(messages);
  return conditions.some((size) => isReached(size, messages.length, tokens, maxInputTokens));
}

function isReached(size: Size, messages: number, tokens: number, maxInputTokens: number | undefined) {
  if (size.messages !== undefined && messages < size.messages) return false;
  if (size.tokens !== undefined && tokens < size.tokens) return false;
  if (size.fraction === undefined) return true;
  return maxInputTokens !== undefined && tokens >= Math.floor(maxInputTokens * size.fraction);
}

/** How many of the newest messages fit into what is to be kept. */
export async function keptCount(
  rule: SummarizationRule,
  messages: BaseMessage[],
  maxInputTokens: number | undefined,
): Promise<number> {
  const { messages: count, tokens, fraction } = rule.keep;
  if (count !== undefined) return count;
  const room = tokens ?? Math.floor((maxInputTokens ?? 0) * (fraction ?? 0));
  return newestWithin(messages, room, counterOf(rule));
}

/** How many of the newest messages have at most so many tokens together. */
export async function newestWithin(messages: BaseMessage[], room: number, count: TokenCounter) {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((await count(messages.slice(-middle))) <= room) low = middle;
    else high = middle - 1;
  }
  return low;
}
