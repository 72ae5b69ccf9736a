import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { RunContext } from "../../execute/run-context.js";
import { type ModelAnswer, withMarks } from "../answers.js";
import { ModelCallError } from "../failures.js";
import { askModel } from "../internal-call.js";
import type { Summary } from "../marks.js";
import type { EffectivePolicy } from "../policy.js";
import {
  counterOf,
  isTriggered,
  keptCount,
  maxInputTokensOf,
  newestWithin,
  type SummarizationRule,
} from "./context-size.js";
import { summaryPrompt } from "./summary-prompt.js";
import { cutBefore, type View, viewOf, viewWith } from "./view.js";

/** The history of one turn, as the model is sent it. */
export interface History {
  readonly messages: BaseMessage[];
  /** Summarises more, after the provider refused the history as too long; false where nothing more can be. */
  shrink(): Promise<boolean>;
  /** The answer with the summary that was made for it. */
  kept(answer: ModelAnswer): ModelAnswer;
}

interface Turn {
  policy: EffectivePolicy;
  run: RunContext;
  /** The model that is to answer. */
  model: BaseChatModel;
  summarizer: BaseChatModel;
  messages: BaseMessage[];
}

/** The history as it is, or with its older messages summarised where the policy's trigger says so. */
export async function historyOf(turn: Turn): Promise<History> {
  const rule = turn.policy.summarization;
  if (!rule) return { messages: turn.messages, shrink: async () => false, kept: (answer) => answer };
  let view = viewOf(turn.messages, rule.summaryPrefix, rule.trimTokensToSummarize);
  let made: Summary | undefined;
  const summarize = async (kept: number): Promise<boolean> => {
    const summary = await summaryOf(turn, view, kept);
    if (!summary) return false;
    made = summary;
    view = viewWith(turn.messages, summary, rule.summaryPrefix, rule.trimTokensToSummarize);
    return true;
  };
  const maxInputTokens = maxInputTokensOf(rule, turn.model);
  if (await isTriggered(rule, view.messages, maxInputTokens)) {
    await summarize(await keptCount(rule, view.messages, maxInputTokens));
  }
  return {
    get messages() {
      return view.messages;
    },
    shrink: async () => summarize(await fewer(rule, view)),
    kept: (answer) => (made ? withMarks(answer, { summary: made }) : answer),
  };
}

/** How many messages stay after a context was refused: half of it at most, and fewer where that would cut nothing. */
async function fewer(rule: SummarizationRule, { messages, standIns }: View): Promise<number> {
  const count = counterOf(rule);
  const half = await newestWithin(messages, (await count(messages)) / 2, count);
  let kept = Math.min(half, messages.length - standIns - 1);
  while (kept > 1 && cutBefore(messages, kept) <= standIns) kept = Math.floor(kept / 2);
  return Math.max(kept, 1);
}

/**
 * A summary of all but about `kept` messages of a view. Undefined where there is nothing to summarise, no unit of
 * the limits is left, or the summariser failed: the history stays as it is then.
 */
async function summaryOf(
  { policy, run, summarizer: model }: Turn,
  view: View,
  kept: number,
): Promise<Summary | undefined> {
  const rule = policy.summarization;
  const cut = cutBefore(view.messages, kept);
  const upTo = cut > view.standIns ? view.messages[cut - 1]?.id : undefined;
  if (!rule || upTo === undefined) return undefined;
  const prompt = await summaryPrompt(rule, view.messages.slice(0, cut));
  try {
    const answer = await askModel(
      { policy, run, model, purpose: "summarization" },
      [new HumanMessage(prompt)],
      (asked, messages, config) => asked.invoke(messages, config),
    );
    const text = answer?.text.trim();
    return text ? { text: run.services.redactor.text(text, "output"), upTo } : undefined;
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error;
    run.services.logger.warn({ code: error.code }, "The history could not be summarised and stays as it is");
    return undefined;
  }
}
