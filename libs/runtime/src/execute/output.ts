import type { EndedBy } from "@drover/contracts";
import {
  AIMessage,
  type BaseMessage,
  isAIMessage,
  isBaseMessage,
  isToolMessage,
} from "@langchain/core/messages";
import type { LoadedAgent } from "../load/loaded-agent.js";
import { endReason } from "../models/index.js";
import { endedByOf } from "../policy/marks.js";
import { toPlain } from "./plain.js";

/** What a finished run gives, and why it stopped. */
export interface Result {
  output: unknown;
  endedBy: EndedBy;
}

/**
 * The output of a graph's last values: what the agent's `output` makes of them; else its structured response; else
 * the text of its last message; else the values.
 */
export function resultOf(agent: LoadedAgent, values: Record<string, unknown>): Result {
  const messages = messagesOf(values);
  const last = messages.findLast(isAIMessage);
  const endedBy = last ? (endedByOf(last) ?? endReason(last)) : "completed";
  const own = agent.definition?.output;
  if (own) return { output: toPlain(own(values)), endedBy };
  const structured = values.structuredResponse ?? structuredIn(agent, messages, endedBy);
  if (structured !== undefined) return { output: toPlain(structured), endedBy };
  if (messages.length > 0) return { output: last?.text ?? "", endedBy };
  return { output: toPlain(values), endedBy };
}

function messagesOf(values: Record<string, unknown>): BaseMessage[] {
  return Array.isArray(values.messages) ? values.messages.filter(isBaseMessage) : [];
}

/**
 * LangGraph does not store the structured response. A worker that takes over after the last step finds it where the
 * model wrote it: in the answer to its closing tool call, or as the text of its last message.
 */
function structuredIn(agent: LoadedAgent, messages: BaseMessage[], endedBy: EndedBy): unknown {
  if (agent.definition?.responseFormat === undefined || endedBy !== "completed") return undefined;
  const [answer, last] = messages.slice(-2);
  const text = answer && isToolMessage(answer) ? answer.text : last instanceof AIMessage ? last.text : "";
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
