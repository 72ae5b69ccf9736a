import { matchesTool } from "@drover/contracts";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, isHumanMessage, SystemMessage } from "@langchain/core/messages";
import type { ClientTool, ServerTool } from "@langchain/core/tools";
import { z } from "zod";
import type { RunContext } from "../execute/run-context.js";
import { ModelCallError } from "./failures.js";
import { askModel } from "./internal-call.js";
import type { EffectivePolicy } from "./policy.js";
import { WRITE_TODOS } from "./todo-list.js";

type AnyTool = ClientTool | ServerTool;
type Selectable = AnyTool & { name: string; description: string };

const isSelectable = (tool: AnyTool): tool is Selectable =>
  "name" in tool &&
  typeof tool.name === "string" &&
  "description" in tool &&
  typeof tool.description === "string";

interface Selection {
  policy: EffectivePolicy;
  run: RunContext;
  model: BaseChatModel;
  tools: AnyTool[];
  messages: BaseMessage[];
}

/**
 * The tools that the agent's model is shown: those that a model chose for the newest request, and those that are
 * always shown. A choice that fails, or names what there is not, takes no tool away by mistake: then all are shown.
 */
export async function selectedTools(selection: Selection): Promise<AnyTool[]> {
  const { policy, run, tools, messages } = selection;
  const rule = policy.toolSelector;
  const request = messages.findLast(isHumanMessage);
  if (!rule || !request) return tools;
  const isAlways = ({ name }: Selectable) =>
    name === WRITE_TODOS || rule.alwaysInclude.some((pattern) => matchesTool(pattern, name));
  const offered = tools.filter(isSelectable).filter((tool) => !isAlways(tool));
  if (offered.length === 0) return tools;
  try {
    const chosen = await choice(selection, offered, request);
    if (!chosen) return tools;
    const names = new Set(offered.map(({ name }) => name));
    const known = [...new Set(chosen)].filter((name) => names.has(name)).slice(0, rule.maxTools);
    return tools.filter((tool) => !isSelectable(tool) || isAlways(tool) || known.includes(tool.name));
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error;
    run.services.logger.warn(
      { code: error.code },
      "No tools could be chosen: the model is shown all of them",
    );
    return tools;
  }
}

async function choice(
  { policy, run, model }: Selection,
  offered: readonly Selectable[],
  request: BaseMessage,
): Promise<string[] | undefined> {
  const { systemPrompt, maxTools } = policy.toolSelector ?? {};
  const most =
    maxTools === undefined ? "" : `\nName the most relevant first; only the first ${maxTools} are used.`;
  const list = offered.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  const [first = "", ...rest] = offered.map(({ name }) => name);
  const schema = z.object({ tools: z.array(z.enum([first, ...rest])).describe("The most relevant first.") });
  const answer = await askModel(
    { policy, run, model, purpose: "llmToolSelector" },
    [new SystemMessage(`${systemPrompt ?? ""}${most}\n\nThe tools:\n${list}`), request],
    (asked, messages, config) =>
      asked.withStructuredOutput(schema, { name: "selected_tools" }).invoke(messages, config),
  );
  return answer?.tools;
}
