import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type Environment, resolveModel } from "../models/index.js";
import { OfflineChatModel } from "../offline/index.js";
import type { AgentDefinition } from "./define-agent.js";
import { isModelInstance, type ModelSpec } from "./model-spec.js";

/** The models of one agent: its own and the ones that follow when it fails. */
export interface AgentModels {
  primary: BaseChatModel;
  fallbacks: BaseChatModel[];
}

/** @throws DroverError MISSING_API_KEY, UNKNOWN_MODEL_PROVIDER, INVALID_AGENT */
export async function resolveModels(definition: AgentDefinition, env: Environment): Promise<AgentModels> {
  return {
    primary: await resolve(definition.model, env),
    fallbacks: await Promise.all((definition.fallbacks ?? []).map((spec) => resolve(spec, env))),
  };
}

function resolve(spec: ModelSpec, env: Environment): Promise<BaseChatModel> {
  if (typeof spec === "string" || isModelInstance(spec)) return resolveModel(spec, {}, env, offline);
  const { model, ...options } = spec;
  return resolveModel(model, options, env, offline);
}

const offline = (rules: string) => new OfflineChatModel({ rules });
