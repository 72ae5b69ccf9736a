import { DroverError } from "@drover/contracts";
import type { BaseMessage } from "@langchain/core/messages";
import { receiptsRules } from "./receipts/rules.js";

/** A tool that is bound to the model: its name and the JSON schema of its arguments ({} if it declares none). */
export interface OfflineTool {
  name: string;
  parameters: Record<string, unknown>;
}

/**
 * What rules answer for one turn: text, tool calls, or the structured output that the agent's response format
 * asks for. Rules name what they mean; the model gives ids, counts and the shape that the caller bound.
 */
export interface OfflineAnswer {
  content?: string;
  toolCalls?: { name: string; args: Record<string, unknown> }[];
  structured?: Record<string, unknown>;
}

/**
 * Rules that stand in for a language model. They see the conversation and the tools, and must be pure: the same
 * conversation gives the same answer, in every process, so that a repeated step repeats exactly.
 */
export type OfflineRules = (messages: readonly BaseMessage[], tools: readonly OfflineTool[]) => OfflineAnswer;

const registry = new Map<string, OfflineRules>([["receipts", receiptsRules]]);

/** Makes `offline:<name>` a model. A second registration under the same name replaces the first. */
export function registerOfflineRules(name: string, rules: OfflineRules): void {
  registry.set(name, rules);
}

/** The rules of `offline:<name>`. Throws UNKNOWN_MODEL_PROVIDER, naming the ones there are. */
export function offlineRules(name: string): OfflineRules {
  const rules = registry.get(name);
  if (rules) return rules;
  throw new DroverError(
    "UNKNOWN_MODEL_PROVIDER",
    `No rules are registered for the model "offline:${name}". Known: ${[...registry.keys()].map((known) => `offline:${known}`).join(", ") || "none"}. ` +
      `Register your own with registerOfflineRules("${name}", rules) before the agent is loaded.`,
  );
}
