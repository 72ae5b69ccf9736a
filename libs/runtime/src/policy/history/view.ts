import { type BaseMessage, HumanMessage, isHumanMessage, isToolMessage } from "@langchain/core/messages";
import { marksOf, type Summary } from "../marks.js";

/** About four characters are a token, as LangChain counts. */
const CHARACTERS_OF_A_TOKEN = 4;

/** What a model is sent of a thread whose older messages were summarised. */
export interface View {
  messages: BaseMessage[];
  /** How many of them, from the first, stand for summarised ones: what was asked, and the summary. */
  standIns: number;
}

/**
 * What was asked, the summary, and all messages after it. The thread itself keeps every message: the summary is a
 * mark on the model's answer before which it was made, and says up to which message it goes.
 *
 * The first thing that was asked stays, word for word, and so does the newest, whatever lies between; only one that
 * is longer than `goalTokens` is cut.
 */
export function viewOf(messages: BaseMessage[], prefix: string, goalTokens: number): View {
  const summary = messages.map((message) => marksOf(message).summary).findLast((found) => found);
  return summary ? viewWith(messages, summary, prefix, goalTokens) : { messages, standIns: 0 };
}

export function viewWith(
  messages: BaseMessage[],
  summary: Summary,
  prefix: string,
  goalTokens: number,
): View {
  const cut = messages.findIndex(({ id }) => id === summary.upTo) + 1;
  if (cut === 0) return { messages, standIns: 0 };
  const [first, newest] = goalsIn(messages, cut).map((goal) => shortened(goal, goalTokens));
  const standIns = [first, new HumanMessage(`${prefix}\n\n${summary.text}`), newest].filter(
    (message) => message !== undefined,
  );
  return { messages: [...standIns, ...messages.slice(cut)], standIns: standIns.length };
}

/** The first request, and the newest if it is another one, as far as they lie before the cut. */
export function goalsIn(messages: readonly BaseMessage[], cut: number): BaseMessage[] {
  const first = messages.findIndex(isHumanMessage);
  const newest = messages.findLastIndex(isHumanMessage);
  return [...new Set([first, newest])]
    .filter((index) => index >= 0 && index < cut)
    .map((index) => messages[index])
    .filter((message) => message !== undefined);
}

function shortened(goal: BaseMessage, tokens: number): BaseMessage {
  const most = tokens * CHARACTERS_OF_A_TOKEN;
  if (goal.text.length <= most) return goal;
  return new HumanMessage(`${goal.text.slice(0, most)}\n[…]`);
}

/** The end of a text that has about so many tokens. */
export function endOf(text: string, tokens: number): string {
  return text.slice(-tokens * CHARACTERS_OF_A_TOKEN);
}

/**
 * Where to cut so that about `kept` messages stay: before a message, never between a tool call and its answers.
 * Cuts earlier where it must, which keeps more. 0 where nothing can be cut.
 */
export function cutBefore(messages: readonly BaseMessage[], kept: number): number {
  let cut = Math.max(0, messages.length - kept);
  while (cut > 0 && cut < messages.length && isToolMessage(messages[cut] as BaseMessage)) cut -= 1;
  // The newest message is what the model is to answer.
  return cut === messages.length ? cutBefore(messages, 1) : cut;
}
