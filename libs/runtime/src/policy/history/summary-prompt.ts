import { type BaseMessage, getBufferString } from "@langchain/core/messages";
import { counterOf, newestWithin, type SummarizationRule } from "./context-size.js";
import { endOf, goalsIn } from "./view.js";

const PROMPT = `The conversation below has become too long. What you write replaces the part that you are shown, so
whatever you leave out is forgotten.

Write down what the assistant needs to go on: what the user wants, what was decided and found out, with names, numbers
and identifiers as they are, what was done already and must not be done again, and what is still open. Write nothing
else, and no introduction.

<messages>
{messages}
</messages>`;

/**
 * The request to the summariser: of what is to be summarised the newest messages that fit, and what the user asked
 * for in any case.
 */
export async function summaryPrompt(rule: SummarizationRule, summarised: BaseMessage[]): Promise<string> {
  const room = rule.trimTokensToSummarize;
  const fitting = await newestWithin(summarised, room, counterOf(rule));
  const newest = summarised.slice(-Math.max(fitting, 1));
  const goals = goalsIn(summarised, summarised.length).filter((goal) => !newest.includes(goal));
  const parts = [
    ...goals.map((goal) => getBufferString([goal]).slice(0, room * 4)),
    fitting > 0 ? getBufferString(newest) : endOf(getBufferString(newest), room),
  ];
  return (rule.summaryPrompt ?? PROMPT).replace("{messages}", () => parts.join("\n"));
}
