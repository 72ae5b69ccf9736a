import type { EndedBy } from "@drover/contracts";
import type { BaseMessage } from "@langchain/core/messages";

/** What stands for older messages in what a model is sent. */
export interface Summary {
  text: string;
  /** The id of the newest message that it stands for. */
  upTo: string;
}

/**
 * What the policy notes on messages, so that it lives where the conversation lives: in the checkpoint. Kept in
 * `response_metadata`, which no provider is sent.
 */
export interface Marks {
  /** On a tool's answer: the run ends after it. On the last message: what ended the run. */
  endedBy?: EndedBy;
  /** On a model's answer: ids of its tool calls that a reviewer let pass. */
  approved?: string[];
  /** On a tool's answer: the model was told that there is no such tool. */
  unknownTool?: boolean;
  /** On a model's answer: the summary that was made for it. */
  summary?: Summary;
}

export function marksOf(message: BaseMessage): Marks {
  const marks: unknown = message.response_metadata?.drover;
  return typeof marks === "object" && marks !== null ? (marks as Marks) : {};
}

/** The `response_metadata` that carries these marks. */
export function marked(marks: Marks, others: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...others, drover: marks };
}

export function endedByOf(message: BaseMessage): EndedBy | undefined {
  return marksOf(message).endedBy;
}
