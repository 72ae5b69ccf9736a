import { isAIMessage } from "@langchain/core/messages";
import {
  type AgentMiddleware,
  TODO_LIST_MIDDLEWARE_SYSTEM_PROMPT,
  type ToolCallRequest,
  todoListMiddleware,
} from "langchain";
import type { EffectivePolicy } from "./policy.js";

export const WRITE_TODOS = "write_todos";

/** What the to-do list adds to an agent: LangChain's tool, its state, and the words about it in the prompt. */
export interface TodoList {
  tools: AgentMiddleware["tools"];
  stateSchema: AgentMiddleware["stateSchema"];
  prompt: string;
}

export function todoListOf({ todoList }: Pick<EffectivePolicy, "todoList">): TodoList | undefined {
  if (todoList === false) return undefined;
  const { systemPrompt, toolDescription } = todoList === true ? {} : todoList;
  const { tools, stateSchema } = todoListMiddleware(
    toolDescription === undefined ? {} : { toolDescription },
  ) as unknown as AgentMiddleware;
  return { tools, stateSchema, prompt: systemPrompt ?? TODO_LIST_MIDDLEWARE_SYSTEM_PROMPT };
}

/**
 * Why a call of `write_todos` is refused: each call writes the whole list, so of two in one answer none is made, and
 * the model is told so and goes on.
 */
export function refusedTodos({ toolCall, state }: ToolCallRequest): string | undefined {
  if (toolCall.name !== WRITE_TODOS) return undefined;
  const calls = state.messages.findLast(isAIMessage)?.tool_calls ?? [];
  if (calls.filter(({ name }) => name === WRITE_TODOS).length < 2) return undefined;
  return "Error: write_todos replaces the whole list. Call it once in an answer, with all to-dos.";
}
