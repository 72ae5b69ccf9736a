import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";

/** A chat model that does what `answer` says, from the messages alone. */
export class ScriptedModel extends BaseChatModel {
  constructor(readonly answer: (messages: BaseMessage[]) => AIMessage) {
    super({});
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = this.answer(messages);
    return { generations: [{ message, text: message.text }] };
  }
}
