/** What a run used. Tokens as providers report them; dollars only where the model's price is known. */
export interface Usage {
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  reasoningTokens: number;
  /** Millionths of a dollar, so that sums stay whole numbers. */
  costMicros: number;
  /** Calls of models without a known price: while above 0, `costMicros` is a lower bound. */
  unpricedCalls: number;
}

export const USAGE_FIELDS = [
  "modelCalls",
  "toolCalls",
  "inputTokens",
  "outputTokens",
  "cachedTokens",
  "reasoningTokens",
  "costMicros",
  "unpricedCalls",
] as const satisfies readonly (keyof Usage)[];

export function noUsage(): Usage {
  return {
    modelCalls: 0,
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    reasoningTokens: 0,
    costMicros: 0,
    unpricedCalls: 0,
  };
}
