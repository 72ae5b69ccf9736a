import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { modelName } from "../models/index.js";

/** A setting as JSON: functions, classes and tools by name, patterns as they are written, models as `provider:model`. */
export function plainSetting(value: unknown): unknown {
  if (typeof value === "function") return `(function${value.name ? ` ${value.name}` : ""})`;
  if (value instanceof RegExp) return String(value);
  if (Array.isArray(value)) return value.map(plainSetting);
  if (typeof value !== "object" || value === null) return value;
  if ("invoke" in value && "_llmType" in value) return modelName(value as BaseChatModel);
  if ("invoke" in value && "name" in value) return value.name;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, plainSetting(item)]));
}
