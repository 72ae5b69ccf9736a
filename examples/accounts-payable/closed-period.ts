import type { Guard } from "@drover/runtime";
import { erpContextOf } from "./context.js";

const day = (date: Date) => date.toISOString().slice(0, 10);

/**
 * Refuses a posting into a closed fiscal period, before it is offered to a reviewer. The text is for the model: it
 * names the rule and the next step, so that the model does not try the same date again.
 */
export const closedPeriod: Guard = ({ toolCall, runtime }) => {
  const { closedUntil } = erpContextOf(runtime);
  const posted = new Date(String(toolCall.args.posting_date));
  if (Number.isNaN(posted.getTime())) return "The posting date is not a date: use YYYY-MM-DD.";
  if (posted > closedUntil) return undefined;
  return `Posting date ${day(posted)} falls in a closed period (closed until ${day(closedUntil)}). Ask the user for a date in an open period. Do not retry with the same date.`;
};
