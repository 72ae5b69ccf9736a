import type {
  ProviderReply,
  ProviderRequest,
  ScriptedToolCall,
} from "../../../../libs/runtime/src/testing/index.js";
import { plantedText, type Road } from "./planted-values.js";

/** What a road has the model call. */
const CALLS: Partial<Record<Road, (text: string) => ScriptedToolCall>> = {
  tool_args: (text) => ({ name: "look", args: { text } }),
  broken_args: (text) => ({ name: "look", args: `{"text": "${text}` }),
  tool_result: () => ({ name: "tell", args: {} }),
  artifact: () => ({ name: "show", args: {} }),
  file: () => ({ name: "offload", args: {} }),
  memory: () => ({ name: "remember", args: {} }),
  custom_event: () => ({ name: "shout", args: {} }),
  handled_error: () => ({ name: "stumble", args: {} }),
  fatal_error: () => ({ name: "die", args: {} }),
  once: () => ({ name: "order", args: {} }),
  subagent: () => ({ name: "delegate", args: {} }),
  question: () => ({ name: "ask", args: {} }),
  answer: () => ({ name: "wonder", args: {} }),
  cancel_reason: () => ({ name: "wonder", args: {} }),
  approval: (text) => ({ name: "pay", args: { text } }),
  edit: () => ({ name: "pay", args: { text: "later" } }),
  respond: () => ({ name: "pay", args: { text: "later" } }),
  comment: () => ({ name: "pay", args: { text: "later" } }),
  decided_by: () => ({ name: "pay", args: { text: "later" } }),
  crash: (text) => ({ name: "wait", args: { text } }),
};

/** What else a road has the model say. */
const WORDS: Partial<Record<Road, (text: string) => ProviderReply>> = {
  output: (text) => ({ text: `It is ${text}.` }),
  structured_output: (text) => ({ text: JSON.stringify({ note: text, people: [text] }) }),
  provider_error: (text) => ({ status: 400, errorMessage: `Cannot read ${text}` }),
  reasoning: (text) => ({ thinking: { text: `I think of ${text}`, signature: "c2lnbmVk" }, text: "fine" }),
};

/** What the scripted model does about `do:<road>+<road>…`: first it calls all that the roads call, then it speaks. */
export function plantedScript(request: ProviderRequest): ProviderReply {
  const asked = request.messages.findLastIndex(({ text }) => text.includes("do:"));
  const roads = (/do:([a-z_+]+)/.exec(request.messages[asked]?.text ?? "")?.[1]?.split("+") ?? []) as Road[];
  const isAnswered = request.messages.slice(asked + 1).some(({ role }) => role === "tool");
  const calls = roads.flatMap((road) => CALLS[road]?.(plantedText(road)) ?? []);
  const toolCalls = calls.filter(({ name }, i) => calls.findIndex((other) => other.name === name) === i);
  if (toolCalls.length > 0 && !isAnswered) return { toolCalls };
  const speaks = roads.find((road) => WORDS[road]);
  return (speaks && WORDS[speaks]?.(plantedText(speaks))) ?? { text: "fine" };
}
