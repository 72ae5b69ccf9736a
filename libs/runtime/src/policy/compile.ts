import {
  type AgentMiddleware,
  createMiddleware,
  type WrapModelCallHook,
  type WrapToolCallHook,
} from "langchain";
import type { AgentDefinition } from "../agent/define-agent.js";
import type { AgentModels } from "../agent/models.js";
import { middlewareOf, type Place, placeOf } from "../agent/placement.js";
import { answerFormat } from "./answer-format.js";
import { asksForApproval } from "./approval-rules.js";
import { askForApproval, passGate } from "./approvals.js";
import { modelGate } from "./model-gate.js";
import { modelTries } from "./model-tries.js";
import type { CallInQuestion, EffectivePolicy } from "./policy.js";
import { refusedTodos, type TodoList, todoListOf } from "./todo-list.js";
import { errorAnswer } from "./tool-answers.js";
import { toolGate } from "./tool-gate.js";
import { toolTries } from "./tool-tries.js";

const NAME = "drover";
/** As createAgent names it. */
export const NODE_THAT_ASKS = `${NAME}.after_model`;

/**
 * The middleware of an agent: its policy as one, around and inside of the agent's own.
 *
 *   outermost of the agent's own
 *   drover: fallback, retry · approval, guard, tool retry, tool errors    (one node after the model, if it asks)
 *   the agent's own, those placed last innermost
 *   drover gate: limits, redaction, shape of the answer · limits, once, redaction
 *
 * Without middleware of the agent's own around calls, the two of Drover's are one.
 */
export function compilePolicy(
  definition: AgentDefinition,
  models: AgentModels,
  tools: readonly string[],
): AgentMiddleware[] {
  const { policy, middleware = [] } = definition;
  const at = (place: Place) => middleware.filter((entry) => placeOf(entry) === place).map(middlewareOf);
  const own = [...at("inner"), ...at("last")];
  const isDynamic = middleware.map(middlewareOf).some((entry) => entry.wrapToolCall !== undefined);
  const todos = todoListOf(policy);
  const outer = {
    model: withTodoPrompt(todos, modelTries(policy, models)),
    tool: withGate(policy, toolTries(policy)),
  };
  const inner = {
    model: modelGate(policy, answerFormat(definition.responseFormat)),
    tool: toolGate(policy, tools, models),
  };
  const known = isDynamic ? undefined : new Set(tools);
  const wraps = own.some((entry) => entry.wrapModelCall || entry.wrapToolCall);
  if (!wraps) {
    const one = { model: aroundModel(outer.model, inner.model), tool: aroundTool(outer.tool, inner.tool) };
    return [...at("outermost"), asMiddleware(policy, one, known, todos), ...own];
  }
  const gate = createMiddleware({
    name: "drover gate",
    wrapModelCall: inner.model,
    wrapToolCall: inner.tool,
  });
  return [...at("outermost"), asMiddleware(policy, outer, known, todos), ...own, gate as AgentMiddleware];
}

interface Wraps {
  model: WrapModelCallHook;
  tool: WrapToolCallHook;
}

function asMiddleware(
  policy: EffectivePolicy,
  wraps: Wraps,
  known: ReadonlySet<string> | undefined,
  todos: TodoList | undefined,
): AgentMiddleware {
  const afterModel = {
    canJumpTo: ["model" as const],
    hook: (state: CallInQuestion["state"], runtime: CallInQuestion["runtime"]) =>
      askForApproval(policy, known, state, runtime),
  };
  return createMiddleware({
    name: NAME,
    wrapModelCall: wraps.model,
    wrapToolCall: wraps.tool,
    ...(todos ? { tools: todos.tools ?? [], stateSchema: todos.stateSchema as never } : {}),
    ...(asksForApproval(policy) ? { afterModel: afterModel as never } : {}),
  }) as AgentMiddleware;
}

function withTodoPrompt(todos: TodoList | undefined, hook: WrapModelCallHook): WrapModelCallHook {
  if (!todos) return hook;
  return (request, handler) =>
    hook({ ...request, systemMessage: request.systemMessage.concat(`\n\n${todos.prompt}`) }, handler);
}

/** Guards and approvals come once for a call, before its tries. */
function withGate(policy: EffectivePolicy, tries: WrapToolCallHook): WrapToolCallHook {
  return withoutDoubleTodos(policy, withApproval(policy, tries));
}

function withoutDoubleTodos(policy: EffectivePolicy, hook: WrapToolCallHook): WrapToolCallHook {
  if (policy.todoList === false) return hook;
  return (request, handler) => {
    const why = refusedTodos(request);
    return why === undefined ? hook(request, handler) : errorAnswer(request.toolCall, why);
  };
}

function withApproval(policy: EffectivePolicy, tries: WrapToolCallHook): WrapToolCallHook {
  const gates = asksForApproval(policy) || Object.keys(policy.guards).length > 0;
  if (!gates) return tries;
  return async (request, handler) => {
    const gate = await passGate(policy, request);
    if ("answer" in gate) return gate.answer;
    if (gate.run.name === request.toolCall.name) return tries({ ...request, toolCall: gate.run }, handler);
    return errorAnswer(
      request.toolCall,
      `The call was changed to '${gate.run.name}': call that tool instead.`,
    );
  };
}

function aroundModel(outer: WrapModelCallHook, inner: WrapModelCallHook): WrapModelCallHook {
  return (request, handler) =>
    outer(request, (changed) => inner(changed as typeof request, handler) as ReturnType<typeof handler>);
}

function aroundTool(outer: WrapToolCallHook, inner: WrapToolCallHook): WrapToolCallHook {
  return (request, handler) => outer(request, (changed) => inner(changed, handler));
}
