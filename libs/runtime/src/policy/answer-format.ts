import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  MultipleStructuredOutputsError,
  ProviderStrategy,
  providerStrategy,
  StructuredOutputParsingError,
  ToolStrategy,
  toolStrategy,
} from "langchain";

/** How often a model is told that its answer does not have the shape, before the call has failed. */
export const MOST_CORRECTIONS = 2;

type HandleError = boolean | string | ((error: Error) => string | Promise<string>) | undefined;

/** An agent's response format, made ready once: LangChain would make it anew, under a new name, for each call. */
export interface AnswerFormat {
  /** What `request.responseFormat` must be for this model. */
  for(model: object): ProviderStrategy | ToolStrategy[];
  /** What the model is told about an answer of a wrong shape; undefined where the agent wants no second try. */
  explain(error: Error): Promise<string | undefined>;
}

/**
 * LangChain answers a wrong shape with a jump of the graph, which runs beside the nodes after the model and breaks
 * them. Here it throws, and the model is asked again within its own step.
 */
export function answerFormat(given: object | undefined): AnswerFormat | undefined {
  if (given === undefined) return undefined;
  if (given instanceof ProviderStrategy) return formatOf(() => given, undefined);
  const made = toolStrategies(given);
  const handleError = made[0]?.options?.handleError as HandleError;
  const tools = made.map(throwing);
  if (Array.isArray(given) || given instanceof ToolStrategy) return formatOf(() => tools, handleError);
  const native = providerStrategy(given as Parameters<typeof providerStrategy>[0]) as ProviderStrategy;
  return formatOf((model) => (hasNativeFormat(model) ? native : tools), handleError);
}

function formatOf(choose: AnswerFormat["for"], handleError: HandleError): AnswerFormat {
  return {
    for: choose,
    async explain(error) {
      if (handleError === false) return undefined;
      if (typeof handleError === "string") return handleError;
      return typeof handleError === "function" ? handleError(error) : error.message;
    },
  };
}

function toolStrategies(given: object): ToolStrategy[] {
  if (given instanceof ToolStrategy) return [given];
  return toolStrategy(given as Parameters<typeof toolStrategy>[0]) as unknown as ToolStrategy[];
}

/** The strategy with a name that every process gives it, and with errors that are thrown. */
function throwing(strategy: ToolStrategy, i: number): ToolStrategy {
  const { function: own } = strategy.tool;
  if (/^extract-\d+$/.test(own.name)) own.name = i === 0 ? "extract-answer" : `extract-answer-${i + 1}`;
  return Object.assign(strategy, { options: { ...strategy.options, handleError: false } });
}

/** Whether LangChain would use the model's own structured output: it decides by the profile, too. */
function hasNativeFormat(model: object): boolean {
  return "profile" in model && (model as BaseChatModel).profile?.structuredOutput === true;
}

export function isWrongShape(error: unknown): error is Error {
  return error instanceof StructuredOutputParsingError || error instanceof MultipleStructuredOutputsError;
}
