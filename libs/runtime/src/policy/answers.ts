import type { MessageStructure } from "@langchain/core/messages";
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  isToolMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { endReason } from "../models/index.js";
import { withEditedCalls } from "./edited-message.js";
import { type Marks, marked, marksOf } from "./marks.js";

/** What LangChain's model step gives: a message, or the structured response with the messages that brought it. */
export type ModelAnswer = AIMessage | { structuredResponse: unknown; messages: BaseMessage[] };

export function isStructured(answer: unknown): answer is Exclude<ModelAnswer, AIMessage> {
  return (
    typeof answer === "object" && answer !== null && "structuredResponse" in answer && "messages" in answer
  );
}

/** The answer with further marks on the model's message. */
export function withMarks(answer: ModelAnswer, marks: Marks): ModelAnswer {
  const [message, ...rest] = isStructured(answer) ? answer.messages : [answer];
  if (!(message && AIMessage.isInstance(message))) return answer;
  const noted = withEditedCalls(message, new Map(), { ...marksOf(message), ...marks });
  return isStructured(answer) ? { ...answer, messages: [noted, ...rest] } : noted;
}

/** The message with which the policy ends a run, in the model's place. */
export function closingMessage(content: string, marks: Marks): AIMessage {
  return new AIMessage({ content, response_metadata: marked(marks) });
}

/**
 * An answer that was cut off without the tool calls that it still had: their arguments may have lost their end
 * without a sign. Its text stays, and it says itself that it was cut off.
 */
export function withoutCutOffCalls(message: AIMessage): AIMessage {
  if (endReason(message) === "completed") return message;
  if (!message.tool_calls?.length && !message.invalid_tool_calls?.length) return message;
  const { tool_calls: _, ...extra } = message.additional_kwargs;
  return new AIMessage<MessageStructure>({
    content: message.text,
    ...(message.id === undefined ? {} : { id: message.id }),
    ...(message.usage_metadata === undefined ? {} : { usage_metadata: message.usage_metadata }),
    additional_kwargs: extra,
    response_metadata: message.response_metadata,
  });
}

/** The answer to be corrected, answered in the form that every provider takes. */
export function correctionOf(answer: AIMessage, text: string): BaseMessage[] {
  const calls = answer.tool_calls ?? [];
  if (calls.length === 0) return [answer, new HumanMessage(text)];
  const told = calls.map(
    ({ id = "", name }) => new ToolMessage({ content: text, name, tool_call_id: id, status: "error" }),
  );
  return [answer, ...told];
}

/** A model may close and call tools in one answer: those calls are not made, and get an answer that says so. */
export function withEveryClosingCallAnswered(messages: BaseMessage[]): BaseMessage[] {
  const [answer, ...rest] = messages;
  if (!(answer && AIMessage.isInstance(answer))) return messages;
  const answered = new Set(rest.filter(isToolMessage).map((message) => message.tool_call_id));
  const open = (answer.tool_calls ?? []).filter(({ id }) => id !== undefined && !answered.has(id));
  const told = open.map(
    ({ id = "", name }) =>
      new ToolMessage({
        content: `'${name}' was not called: the same answer closed the task.`,
        name,
        tool_call_id: id,
        status: "error",
      }),
  );
  return [answer, ...told, ...rest];
}
