import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ModelOptions } from "../models/index.js";

/**
 * How an agent names its model: LangChain's `provider:model`, the same with options of the provider's chat class
 * (`{ model: "openai:gpt-5.4-mini", temperature: 0 }`), or a chat model's instance.
 */
export type ModelSpec = string | ModelWithOptions | BaseChatModel;

export type ModelWithOptions = { model: string } & ModelOptions;

/** True for an instance; false for a name or a name with options. */
export function isModelInstance(spec: ModelSpec): spec is BaseChatModel {
  return typeof spec === "object" && "invoke" in spec && typeof spec.invoke === "function";
}

export function isModelSpec(value: unknown): value is ModelSpec {
  if (typeof value === "string") return value.trim() !== "";
  if (typeof value !== "object" || value === null) return false;
  if ("invoke" in value && typeof value.invoke === "function") return true;
  return "model" in value && typeof value.model === "string" && value.model.trim() !== "";
}
