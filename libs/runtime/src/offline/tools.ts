import type { BindToolsInput } from "@langchain/core/language_models/chat_models";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { isInteropZodSchema } from "@langchain/core/utils/types";
import type { OfflineTool } from "./rules.js";

/** A bound tool, and whether it is only a format for the answer (a definition without anything to execute). */
export interface BoundTool extends OfflineTool {
  isAnswerFormat: boolean;
}

/** Reads the forms in which LangChain binds tools: tool objects, and definitions in OpenAI's form. */
export function describeTools(tools: readonly BindToolsInput[]): BoundTool[] {
  return tools.map((tool) => {
    const record = tool as Record<string, unknown>;
    const definition = asRecord(record.function);
    if (definition) {
      return {
        name: String(definition.name),
        parameters: asRecord(definition.parameters) ?? {},
        isAnswerFormat: true,
      };
    }
    return { name: String(record.name), parameters: jsonSchemaOf(record.schema), isAnswerFormat: false };
  });
}

/** The answer format that shares the most fields with a structured answer; undefined if none shares any. */
export function answerFormatFor(
  structured: Record<string, unknown>,
  tools: readonly BoundTool[],
): BoundTool | undefined {
  let best: BoundTool | undefined;
  let bestShared = 0;
  for (const tool of tools) {
    const properties = asRecord(tool.parameters.properties);
    if (!tool.isAnswerFormat || !properties) continue;
    const shared = Object.keys(structured).filter((key) => key in properties).length;
    if (shared > bestShared) [best, bestShared] = [tool, shared];
  }
  return best;
}

/** The fields of a structured answer that a JSON schema knows; all of them if it names none. */
export function fitToSchema(structured: Record<string, unknown>, schema: unknown): Record<string, unknown> {
  const properties = asRecord(asRecord(schema)?.properties);
  if (!properties) return structured;
  return Object.fromEntries(Object.entries(structured).filter(([key]) => key in properties));
}

export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function jsonSchemaOf(schema: unknown): Record<string, unknown> {
  if (isInteropZodSchema(schema)) return toJsonSchema(schema) as Record<string, unknown>;
  return asRecord(schema) ?? {};
}
