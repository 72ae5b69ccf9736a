import { DroverError } from "@drover/contracts";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type Environment, modelName, resolveModel } from "../models/index.js";
import { OfflineChatModel } from "../offline/index.js";
import { maxInputTokensOf } from "../policy/history/context-size.js";
import type { AgentDefinition } from "./define-agent.js";
import { isModelInstance, type ModelSpec } from "./model-spec.js";

/** The models of one agent: its own, the ones that follow when it fails, and those of its policy. */
export interface AgentModels {
  primary: BaseChatModel;
  fallbacks: BaseChatModel[];
  /** Default of these three: the agent's own. */
  summarizer?: BaseChatModel;
  selector?: BaseChatModel;
  emulator?: BaseChatModel;
}

/** @throws DroverError MISSING_API_KEY, UNKNOWN_MODEL_PROVIDER, INVALID_AGENT */
export async function resolveModels(definition: AgentDefinition, env: Environment): Promise<AgentModels> {
  const { summarization, toolSelector, toolEmulator } = definition.policy;
  const ofPolicy = { summarizer: summarization, selector: toolSelector, emulator: toolEmulator };
  const models: AgentModels = {
    primary: await resolve(definition.model, env),
    fallbacks: await Promise.all((definition.fallbacks ?? []).map((spec) => resolve(spec, env))),
  };
  for (const [name, rule] of Object.entries(ofPolicy)) {
    if (rule?.model !== undefined) models[name as keyof typeof ofPolicy] = await resolve(rule.model, env);
  }
  assertContextIsKnown(definition, models);
  return models;
}

/** A share of a context whose size nobody knows would never be reached. */
function assertContextIsKnown(
  { policy: { summarization } }: AgentDefinition,
  { primary }: AgentModels,
): void {
  if (!summarization || maxInputTokensOf(summarization, primary) !== undefined) return;
  const sizes = [summarization.keep, ...[summarization.trigger ?? []].flat()];
  if (sizes.every(({ fraction }) => fraction === undefined)) return;
  throw new DroverError(
    "INVALID_POLICY",
    `summarization: LangChain has no profile of the model ${modelName(primary)}, so a fraction of its context is not known; set summarization.maxInputTokens, or use tokens.`,
  );
}

function resolve(spec: ModelSpec, env: Environment): Promise<BaseChatModel> {
  if (typeof spec === "string" || isModelInstance(spec)) return resolveModel(spec, {}, env, offline);
  const { model, ...options } = spec;
  return resolveModel(model, options, env, offline);
}

const offline = (rules: string) => new OfflineChatModel({ rules });
