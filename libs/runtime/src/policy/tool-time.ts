import { abortWith, DroverError, matchesTool } from "@drover/contracts";
import type { ToolMessage } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import type { ToolCallRequest } from "langchain";
import type { RunContext } from "../execute/run-context.js";
import { forTool } from "./for-tool.js";
import { least } from "./least.js";
import type { EffectivePolicy } from "./policy.js";

type Invoke = (input: unknown, config: object) => unknown;
type Handler = (request: ToolCallRequest) => Promise<ToolMessage | Command>;

/** How long one execution of a tool may take, and whether the run ends with it; undefined where nothing says so. */
function limitFor(policy: EffectivePolicy, tool: string): { ms: number; endsRun: boolean } | undefined {
  const { tools = {}, toolCeilings = {}, onToolLimit } = policy.timeLimits ?? {};
  const ms = least(forTool(tools, tool), forTool(toolCeilings, tool));
  if (ms === undefined) return undefined;
  // What became of a call that was cut off is not known: a tool marked once must not be told to have failed.
  const isOnce = policy.once.some((once) => matchesTool(once, tool));
  return { ms, endsRun: isOnce || onToolLimit === "error" };
}

/**
 * Calls a tool within its time. After it the tool's signal fires, and its answer goes nowhere, also where it does not
 * listen. Ends the run with TOOL_TIMEOUT, or throws what the tool's retries and errors are about.
 */
export async function withinTime(
  policy: EffectivePolicy,
  request: ToolCallRequest,
  handler: Handler,
  run: RunContext,
): Promise<ToolMessage | Command> {
  const limit = limitFor(policy, request.toolCall.name);
  if (!limit) return handler(request);
  const { name } = request.toolCall;
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const said = `The tool '${name}' took longer than ${limit.ms} ms`;
      const error = limit.endsRun
        ? new DroverError(
            "TOOL_TIMEOUT",
            `${said}. See why it takes so long, or raise timeLimits.tools of the agent's policy, or of the fleet's where that is lower.`,
          )
        : Object.assign(new Error(`${said}.`), { name: "TimeoutError" });
      if (error instanceof DroverError) run.stop(error);
      // First: what the tool throws when its signal fires says less.
      reject(error);
      late.abort(error);
    }, limit.ms);
  });
  try {
    return await Promise.race([isLate, handler({ ...request, tool: stoppable(request.tool, late) })]);
  } finally {
    clearTimeout(timer);
  }
}

/** The tool, with a signal of this call, which the run's aborts too while it goes on. */
function stoppable(tool: ToolCallRequest["tool"], late: AbortController): ToolCallRequest["tool"] {
  if (typeof tool !== "object" || !("invoke" in tool)) return tool;
  const invoke = async (input: unknown, config: { signal?: AbortSignal } = {}) => {
    const letGo = abortWith(late, ...(config.signal ? [config.signal] : []));
    try {
      return await (tool.invoke as Invoke)(input, { ...config, signal: late.signal });
    } finally {
      letGo();
    }
  };
  return new Proxy(tool, {
    get: (target, key) => (key === "invoke" ? invoke : Reflect.get(target, key, target)),
  });
}
