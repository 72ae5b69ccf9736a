import type { Redactor } from "@drover/contracts";
import type { TraceSpan } from "@drover/telemetry";
import type { Serialized } from "@langchain/core/load/serializable";
import type { BaseMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { isGraphBubbleUp } from "@langchain/langgraph";
import { classifyModelError, tokensOf } from "../models/index.js";
import { answerIn, ModelListener } from "./model-listener.js";
import { modelOfCall } from "./usage-meter.js";

/** Characters of messages that a span holds, where it may hold any. */
const MOST_CONTENT = 16_384;

/**
 * Makes a span of each model call and each tool call, by the generative AI conventions of OpenTelemetry. Only there for
 * runs that are traced. What is said stands in a span only where `content` is given, which redacts it.
 */
export class TraceCalls extends ModelListener {
  readonly name = "drover.trace";
  readonly #open = new Map<string, TraceSpan>();

  constructor(
    private readonly parent: Pick<TraceSpan, "child">,
    private readonly content: Redactor | undefined,
  ) {
    super();
  }

  protected override modelAsked(
    runId: string,
    metadata: Record<string, unknown>,
    messages: readonly BaseMessage[],
  ): void {
    const { provider, model } = modelOfCall(metadata);
    const name = model.slice(provider.length + 1);
    this.#open.set(
      runId,
      this.parent.child(`chat ${name}`, "client", {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name,
        ...this.#said("gen_ai.input.messages", messages),
      }),
    );
  }

  override handleLLMEnd(output: LLMResult, runId: string): void {
    const span = this.#open.get(runId);
    const message = answerIn(output);
    if (span && message) {
      const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = tokensOf(message);
      const named = message.response_metadata.model_name ?? message.response_metadata.model;
      span.set({
        ...(typeof named === "string" ? { "gen_ai.response.model": named } : {}),
        "gen_ai.usage.input_tokens": inputTokens,
        "gen_ai.usage.output_tokens": outputTokens,
        "gen_ai.usage.cache_read.input_tokens": cachedTokens,
        "gen_ai.usage.reasoning.output_tokens": reasoningTokens,
        ...this.#said("gen_ai.output.messages", [message]),
      });
    }
    this.#end(runId);
  }

  override handleLLMError(error: unknown, runId: string): void {
    this.#end(runId, classifyModelError(error).code);
  }

  override handleToolStart(
    _tool: Serialized,
    _input: string,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    _metadata?: Record<string, unknown>,
    runName?: string,
    toolCallId?: string,
  ): void {
    const name = runName ?? "unknown";
    this.#open.set(
      runId,
      this.parent.child(`execute_tool ${name}`, "internal", {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        ...(toolCallId === undefined ? {} : { "gen_ai.tool.call.id": toolCallId }),
      }),
    );
  }

  override handleToolEnd(_output: unknown, runId: string): void {
    this.#end(runId);
  }

  override handleToolError(error: unknown, runId: string): void {
    // A question to a person travels as an error and is none.
    const isQuestion = isGraphBubbleUp(error as Parameters<typeof isGraphBubbleUp>[0]);
    this.#end(runId, isQuestion ? undefined : "TOOL_ERROR");
  }

  #end(runId: string, errorType?: string): void {
    this.#open.get(runId)?.end(errorType);
    this.#open.delete(runId);
  }

  #said(attribute: string, messages: readonly BaseMessage[]): Record<string, string> {
    if (!this.content) return {};
    try {
      const said = messages.map((message) => ({ role: message.getType(), content: message.text }));
      return { [attribute]: JSON.stringify(this.content.value(said, "event")).slice(0, MOST_CONTENT) };
    } catch {
      // A rule that blocks.
      return { [attribute]: "[blocked]" };
    }
  }
}
