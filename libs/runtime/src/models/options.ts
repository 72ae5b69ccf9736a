import { DroverError, parseOrThrow } from "@drover/contracts";
import { z } from "zod";

/** A request that brings nothing for so long has failed; two minutes are more than the slowest models need. */
export const DEFAULT_TIMEOUT_MS = 120_000;

/** Fields of LangChain's model classes that Drover itself sets; in `params` they would undo what it promises. */
const RESERVED_PARAMS = [
  "apiKey",
  "anthropicApiKey",
  "openAIApiKey",
  "clientOptions",
  "configPrefix",
  "configurableFields",
  "configuration",
  "createClient",
  "maxRetries",
  "model",
  "modelName",
  "modelProvider",
] as const;

const RETRIES_ELSEWHERE =
  "retries belong to the agent's policy, which counts each one; a client that retries by itself would break limits";
const KEYS_ELSEWHERE =
  "keys come from the environment only; name the variable with apiKeyEnv if it is not the usual one";

const params = z.record(z.string(), z.unknown()).superRefine((given, context) => {
  for (const key of RESERVED_PARAMS.filter((name) => name in given)) {
    const why =
      key === "maxRetries" ? RETRIES_ELSEWHERE : /key$/i.test(key) ? KEYS_ELSEWHERE : "Drover sets this";
    context.addIssue({ code: "custom", path: [key], message: why });
  }
});

const baseUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).refine(
  // fetch refuses such a URL with an error that repeats it, password and all.
  (url) => !/^https?:\/\/[^/]*@/.test(url),
  "must not hold a user name or password",
);

/** What may stand beside a `provider:model` string. Unknown keys are refused. */
export const modelOptionsSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  /** The most tokens in one answer; an answer that reaches it ends the run as `truncated`. */
  maxTokens: z.int().positive().optional(),
  stopSequences: z.array(z.string().min(1)).optional(),
  /** Milliseconds until the answer begins, and the longest pause within it. Default 120000. */
  timeout: z.int().positive().optional(),
  /** Where an OpenAI-compatible server (Ollama, vLLM) or a proxy listens. It goes before the environment's. */
  baseUrl: baseUrl.optional(),
  /** The environment variable that holds the key, when it is not the provider's usual one. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable, not a key")
    .optional(),
  /** Further fields of LangChain's class for this provider, for example {useResponsesApi: true}. */
  params: params.optional(),
});

export type ModelOptions = z.input<typeof modelOptionsSchema>;

/** @throws DroverError INVALID_AGENT that names each wrong option and never repeats a value. */
export function parseModelOptions(options: unknown, spec: string): ModelOptions {
  if (typeof options === "object" && options !== null) {
    if ("maxRetries" in options) refuse(spec, "maxRetries", RETRIES_ELSEWHERE);
    if ("apiKey" in options) refuse(spec, "apiKey", KEYS_ELSEWHERE);
  }
  return parseOrThrow(modelOptionsSchema, options, `The options of model "${spec}"`, "INVALID_AGENT");
}

function refuse(spec: string, option: string, why: string): never {
  throw new DroverError("INVALID_AGENT", `The options of model "${spec}": ${option}: ${why}.`);
}

/** @throws DroverError INVALID_CONFIG if the variable's value is no base URL; the value is not repeated. */
export function baseUrlFrom(
  env: Readonly<Record<string, string | undefined>>,
  variables: readonly string[],
): string | undefined {
  for (const variable of variables) {
    const value = env[variable]?.trim();
    if (!value) continue;
    return parseOrThrow(baseUrl, value, `Environment variable ${variable}`, "INVALID_CONFIG");
  }
  return undefined;
}
