import { fetchWithIdleLimit } from "./idle-limit.js";
import { CompletionsWithRefusals } from "./openai-refusals.js";
import { DEFAULT_TIMEOUT_MS, type ModelOptions } from "./options.js";

export interface Provider {
  /** The environment variables that may hold its key, the usual one first. Empty: it has other credentials. */
  keys: readonly string[];
  /** The environment variables that may hold its base URL, the usual one first. */
  baseUrls: readonly string[];
  /** The fields of LangChain's model class for these options. */
  fields(given: Given): Record<string, unknown>;
}

interface Given {
  model: string;
  options: ModelOptions;
  key: string | undefined;
  baseUrl: string | undefined;
}

function common(options: ModelOptions): Record<string, unknown> {
  const { params, timeout: _timeout, baseUrl: _baseUrl, apiKeyEnv: _apiKeyEnv, ...fields } = options;
  return { ...params, ...fields, maxRetries: 0 };
}

/** Both clients log a chunk that they cannot parse, which is text of the conversation: their log stays off. */
function client(options: ModelOptions, baseURL: string): Record<string, unknown> {
  const timeout = options.timeout ?? DEFAULT_TIMEOUT_MS;
  return { baseURL, timeout, logLevel: "off", fetch: fetchWithIdleLimit(timeout) };
}

/**
 * A base URL is always given, so that no variable which only LangChain reads (a gateway's, say) sends a
 * conversation somewhere else.
 */
const openai: Provider = {
  keys: ["OPENAI_API_KEY"],
  baseUrls: ["OPENAI_BASE_URL", "OPENAI_API_BASE"],
  fields: ({ model, options, key, baseUrl }) => {
    const fields = {
      ...common(options),
      apiKey: key,
      timeout: options.timeout ?? DEFAULT_TIMEOUT_MS,
      configuration: client(options, baseUrl ?? "https://api.openai.com/v1"),
    };
    return { ...fields, completions: new CompletionsWithRefusals({ ...fields, model }) };
  },
};

const anthropic: Provider = {
  keys: ["ANTHROPIC_API_KEY"],
  baseUrls: ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"],
  fields: ({ options, key, baseUrl }) => ({
    ...common(options),
    apiKey: key,
    clientOptions: client(options, baseUrl ?? "https://api.anthropic.com"),
  }),
};

/** One of LangChain's other providers: its package is the user's to install, and reads its own environment. */
function other(...keys: string[]): Provider {
  return {
    keys,
    baseUrls: [],
    fields: ({ options, key, baseUrl }) => ({
      ...common(options),
      timeout: options.timeout ?? DEFAULT_TIMEOUT_MS,
      ...(key === undefined ? {} : { apiKey: key }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
    }),
  };
}

/** Drover depends on their packages and tests them over HTTP. */
export const OWN_PROVIDERS: Readonly<Record<string, Provider>> = { openai, anthropic };

/** LangChain's other chat model providers, with the key that each reads. */
export const OTHER_PROVIDERS: Readonly<Record<string, Provider>> = {
  aws: other(),
  azure_openai: other("AZURE_OPENAI_API_KEY"),
  bedrock: other(),
  cerebras: other("CEREBRAS_API_KEY"),
  cohere: other("COHERE_API_KEY"),
  deepseek: other("DEEPSEEK_API_KEY"),
  fireworks: other("FIREWORKS_API_KEY"),
  google: other("GOOGLE_API_KEY"),
  "google-genai": other("GOOGLE_API_KEY"),
  "google-vertexai": other(),
  "google-vertexai-web": other(),
  groq: other("GROQ_API_KEY"),
  mistral: other("MISTRAL_API_KEY"),
  mistralai: other("MISTRAL_API_KEY"),
  ollama: other(),
  perplexity: other("PERPLEXITY_API_KEY"),
  together: other("TOGETHER_AI_API_KEY"),
  xai: other("XAI_API_KEY"),
};
