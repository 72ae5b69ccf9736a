import { DroverError } from "@drover/contracts";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { initChatModel } from "langchain";
import { _inferModelProvider as providerOf } from "langchain/chat_models/universal";
import { baseUrlFrom, type ModelOptions, parseModelOptions } from "./options.js";
import { OTHER_PROVIDERS, OWN_PROVIDERS, type Provider } from "./provider.js";

/** The worker's environment, handed in: nothing here reads `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Gives the model for `offline:<name>`; throws UNKNOWN_MODEL_PROVIDER for a name that it does not know. */
export type OfflineModels = (name: string) => BaseChatModel;

/**
 * The chat model for LangChain's `provider:model` string, or for a model's name alone where LangChain knows whose it is
 * (`gpt-5-mini`, `claude-sonnet-4-5`); a model instance is given back as it is (its own retries
 * and timeout included, so it takes no options here). The model name may hold colons: `openai:llama3.1:8b`.
 *
 * No request is sent. The client never retries by itself, and gives up a request that brings nothing for
 * `options.timeout` milliseconds.
 *
 * @throws DroverError INVALID_AGENT (spec or options), UNKNOWN_MODEL_PROVIDER (not known, or its package is not
 * installed), MISSING_API_KEY (names the variable), INVALID_CONFIG (a base URL in the environment).
 */
export async function resolveModel(
  spec: string | BaseChatModel,
  options: ModelOptions,
  env: Environment,
  offline?: OfflineModels,
): Promise<BaseChatModel> {
  if (typeof spec !== "string") return instance(spec, options);
  const { provider, model } = split(spec);
  const checked = parseModelOptions(options, spec);
  if (provider === "offline") return offlineModel(model, offline);
  const known = OWN_PROVIDERS[provider] ?? OTHER_PROVIDERS[provider];
  if (known === undefined) throw unknownProvider(`"${provider}" in model "${spec}" is not a provider.`);
  const key = keyFrom(env, known, checked, spec);
  const baseUrl = checked.baseUrl ?? baseUrlFrom(env, known.baseUrls);
  return build(provider, model, () => known.fields({ model, options: checked, key, baseUrl }), spec);
}

function instance(model: BaseChatModel, options: ModelOptions): BaseChatModel {
  // Not instanceof: an agent's own project may load its own copy of LangChain.
  if (typeof model?.invoke !== "function" || !("_streamResponseChunks" in model)) {
    throw new DroverError(
      "INVALID_AGENT",
      "A model must be a provider:model string or a LangChain chat model.",
    );
  }
  if (Object.keys(options).length > 0) {
    throw new DroverError(
      "INVALID_AGENT",
      "Model options go with a provider:model string; give a model instance its options where it is made.",
    );
  }
  return model;
}

function split(spec: string): { provider: string; model: string } {
  const colon = spec.indexOf(":");
  if (colon < 0) return { provider: inferred(spec), model: spec.trim() };
  const provider = spec.slice(0, colon).trim();
  const model = spec.slice(colon + 1).trim();
  if (colon < 1 || provider === "" || model === "") {
    throw new DroverError(
      "INVALID_AGENT",
      `Model "${spec}" is not of the form provider:model; write for example "openai:gpt-5-mini".`,
    );
  }
  return { provider, model };
}

function inferred(model: string): string {
  const provider = providerOf(model.trim());
  if (provider !== undefined) return provider;
  throw new DroverError(
    "INVALID_AGENT",
    `Model "${model}" names no provider, and its name does not tell whose it is; write provider:model, for example "openai:${model.trim() || "gpt-5-mini"}".`,
  );
}

function offlineModel(name: string, offline: OfflineModels | undefined): BaseChatModel {
  if (offline === undefined)
    throw unknownProvider(`No offline models are loaded, so there is no "offline:${name}".`);
  return offline(name);
}

function unknownProvider(what: string, cause?: unknown): DroverError {
  const own = [...Object.keys(OWN_PROVIDERS), "offline"].join(", ");
  const others = Object.keys(OTHER_PROVIDERS).join(", ");
  return new DroverError(
    "UNKNOWN_MODEL_PROVIDER",
    `${what} These work: ${own}. A server with an OpenAI-compatible API (Ollama, vLLM) is "openai:<model>" with ` +
      `the option baseUrl or with OPENAI_BASE_URL. Once their package is installed: ${others}.`,
    { cause },
  );
}

function keyFrom(
  env: Environment,
  provider: Provider,
  options: ModelOptions,
  spec: string,
): string | undefined {
  const variables = options.apiKeyEnv === undefined ? provider.keys : [options.apiKeyEnv];
  for (const variable of variables) {
    const key = env[variable]?.trim();
    if (!key) continue;
    // An HTTP header refuses other characters, with an error that repeats the key.
    if (/^[\x21-\x7e]+$/.test(key)) return key;
    const message = `Environment variable ${variable} holds a space, a line break or another character that no key has; set it to the key alone.`;
    throw new DroverError("MISSING_API_KEY", message);
  }
  const [variable] = variables;
  if (variable === undefined) return undefined;
  throw new DroverError(
    "MISSING_API_KEY",
    `Set ${variable} in the worker's environment: model "${spec}" needs it. (A server of your own that checks no ` +
      `key takes any word. To try Drover without a key, use an offline model.)`,
  );
}

async function build(
  provider: string,
  model: string,
  fields: () => Record<string, unknown>,
  spec: string,
): Promise<BaseChatModel> {
  try {
    const configurable = await initChatModel(model, { ...fields(), modelProvider: provider });
    // LangChain's wrapper lets any caller swap the model by `configurable.model`, and keeps one client for each
    // configuration that it ever saw (each thread id is one): the provider's own class has neither fault.
    return await configurable._getModelInstance();
  } catch (error) {
    const text = error instanceof Error ? error.message : "";
    const missing = /Unable to import (\S+)\. Please install/.exec(text)?.[1];
    if (missing !== undefined) {
      const what = `Provider "${provider}" of model "${spec}" needs a package: run "npm install ${missing}" where the agents are.`;
      throw unknownProvider(what, error);
    }
    const why = text.split("\n")[0] ?? "";
    throw new DroverError("INVALID_AGENT", `LangChain could not make model "${spec}": ${why}`, {
      cause: error,
    });
  }
}
