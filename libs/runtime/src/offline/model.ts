import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BaseChatModelParams,
  type BindToolsInput,
  type LangSmithParams,
} from "@langchain/core/language_models/chat_models";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import {
  AIMessage,
  AIMessageChunk,
  type AIMessageFields,
  type BaseMessage,
  type StandardMessageStructure,
  type UsageMetadata,
} from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { approximateTokens, assertOnlyText, fingerprint } from "./conversation.js";
import { type OfflineRules, offlineRules } from "./rules.js";
import { answerFormatFor, asRecord, type BoundTool, describeTools, fitToSchema } from "./tools.js";

export interface OfflineChatModelFields extends BaseChatModelParams {
  /** The name of registered rules, as in `offline:<rules>`. */
  rules: string;
}

export interface OfflineCallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
  /** `{type: "json_schema", json_schema: {schema}}`: the answer is to be JSON of that shape. */
  response_format?: unknown;
}

interface Answer {
  id: string;
  content: string;
  toolCalls: ToolCall[];
  usage: UsageMetadata;
  /** Whether the caller bound a format for the answer and no tool. */
  isFormatOnly: boolean;
}

/**
 * A chat model without a model: registered rules over the conversation. It is deterministic to the last id, needs
 * no key and no network, and says in every answer's response_metadata what it is. Counts in usage_metadata are
 * four characters a token. Throws UNKNOWN_MODEL_PROVIDER at construction for unregistered rules and
 * UNREADABLE_DOCUMENT for a conversation that holds pictures or files.
 */
export class OfflineChatModel extends BaseChatModel<OfflineCallOptions> {
  readonly model: string;
  readonly #rules: OfflineRules;

  constructor(fields: OfflineChatModelFields) {
    super(fields);
    this.#rules = offlineRules(fields.rules);
    this.model = `offline:${fields.rules}`;
  }

  static override lc_name(): string {
    return "OfflineChatModel";
  }

  override _llmType(): string {
    return "offline";
  }

  override get profile(): ModelProfile {
    return { toolCalling: true, structuredOutput: true, imageInputs: false, pdfInputs: false };
  }

  override getLsParams(): LangSmithParams {
    return { ls_provider: "offline", ls_model_name: this.model, ls_model_type: "chat" };
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<OfflineCallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, OfflineCallOptions> {
    return this.withConfig({ ...kwargs, tools });
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const answer = this.#answer(messages, options);
    const fields: AIMessageFields<StandardMessageStructure> = {
      id: answer.id,
      content: answer.content,
      tool_calls: answer.toolCalls,
      usage_metadata: answer.usage,
      response_metadata: this.#metadata(),
    };
    // LangChain's withStructuredOutput binds nothing but the format, and reads chunks only.
    const message = answer.isFormatOnly ? new AIMessageChunk(fields) : new AIMessage(fields);
    return { generations: [{ text: answer.content, message }], llmOutput: { model_name: this.model } };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const answer = this.#answer(messages, options);
    for (const piece of answer.content.match(/\S+\s*|\s+/g) ?? []) {
      options.signal?.throwIfAborted();
      const chunk = new ChatGenerationChunk({
        text: piece,
        message: new AIMessageChunk({ id: answer.id, content: piece }),
      });
      yield chunk;
      await runManager?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
    }
    // Merging chunks concatenates strings, so metadata and counts travel on the last chunk alone.
    const last = new ChatGenerationChunk({
      text: "",
      message: new AIMessageChunk<StandardMessageStructure>({
        id: answer.id,
        content: "",
        tool_call_chunks: answer.toolCalls.map((call, index) => ({
          type: "tool_call_chunk" as const,
          index,
          name: call.name,
          args: JSON.stringify(call.args),
          ...(call.id === undefined ? {} : { id: call.id }),
        })),
        usage_metadata: answer.usage,
        response_metadata: this.#metadata(),
      }),
    });
    yield last;
    await runManager?.handleLLMNewToken("", undefined, undefined, undefined, undefined, { chunk: last });
  }

  #answer(messages: BaseMessage[], options: this["ParsedCallOptions"]): Answer {
    options.signal?.throwIfAborted();
    assertOnlyText(messages, this.model);
    const tools: BoundTool[] = describeTools(options.tools ?? []);
    const answer = this.#rules(
      messages,
      tools.filter((tool) => !tool.isAnswerFormat),
    );
    const calls = [...(answer.toolCalls ?? [])];
    let content = answer.content ?? "";
    if (answer.structured) {
      const nativeSchema = asRecord(asRecord(options.response_format)?.json_schema)?.schema;
      const format = nativeSchema === undefined ? answerFormatFor(answer.structured, tools) : undefined;
      if (format) calls.push({ name: format.name, args: fitToSchema(answer.structured, format.parameters) });
      else content = JSON.stringify(fitToSchema(answer.structured, nativeSchema));
    }
    const print = fingerprint(messages);
    const toolCalls = calls.map(({ name, args }, index) => ({
      type: "tool_call" as const,
      id: `call_${print}${index === 0 ? "" : `_${index}`}`,
      name,
      args,
    }));
    const inputTokens = approximateTokens(messages);
    const outputTokens = approximateTokens([new AIMessage({ content, tool_calls: toolCalls })]);
    return {
      isFormatOnly: tools.length > 0 && tools.every((tool) => tool.isAnswerFormat),
      id: `offline-${print}`,
      content,
      toolCalls,
      usage: {
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    };
  }

  #metadata(): Record<string, unknown> {
    return { model_name: this.model, offline: true, note: "rules, not a language model" };
  }
}
